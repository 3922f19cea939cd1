const SECRETS = 'Make the key or certificate outside the template, and hand it in as data.';
const MACHINE = 'Hand the value in as data: templates do not read the machine that renders them.';

/** Functions of Sprig that templates cannot call, and what to do instead. */
export const REFUSED: Readonly<Record<string, string>> = {
  env: MACHINE,
  expandenv: MACHINE,
  getHostByName: MACHINE,
  bcrypt: SECRETS,
  htpasswd: SECRETS,
  derivePassword: SECRETS,
  genPrivateKey: SECRETS,
  genCA: SECRETS,
  genCAWithKey: SECRETS,
  genSelfSignedCert: SECRETS,
  genSelfSignedCertWithKey: SECRETS,
  genSignedCert: SECRETS,
  genSignedCertWithKey: SECRETS,
  buildCustomCert: SECRETS,
  encryptAES: SECRETS,
  decryptAES: SECRETS,
};

export const NEEDS_CLOCK =
  'The caller hands in no clock, so this template may not ask for the time. Hand the time in as data.';
export const NEEDS_RANDOM =
  'The caller hands in no random values: equal data must give equal texts. Hand the value in as data.';
