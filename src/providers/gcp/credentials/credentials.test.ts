import { expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { going } from '#core/testing/going.ts';
import { ACCOUNT, openScene, type Scene, SERVICE_ACCOUNT } from '../testing.ts';
import { defaultCredentials } from './default.ts';

/** Whose token the credentials of the scene come to. */
async function whoAmI(scene: Scene): Promise<string | undefined> {
  const { value } = await scene.during(defaultCredentials(scene.context, scene.files)(going()));
  return scene.fake.world.granted.whose(value);
}

const refusalOf = (scene: Scene): Promise<Fault> =>
  scene.during(defaultCredentials(scene.context, scene.files)(going())).then(
    () => new Fault('internal', 'gave a token'),
    (thrown) => Fault.from(thrown),
  );

const USER = { type: 'authorized_user', client_id: 'c', client_secret: 's3cret', refresh_token: 'r3fresh' };
const AUDIENCE = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q';
const IMPERSONATE = `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${ACCOUNT}:generateAccessToken`;

const external = (credential_source: object) => ({
  type: 'external_account',
  audience: AUDIENCE,
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  token_url: 'https://sts.googleapis.com/v1/token',
  credential_source,
});

it('by the key of a service account, with a signature that Google takes', async () => {
  const scene = openScene();
  scene.writeCredentials(SERVICE_ACCOUNT);

  expect(await whoAmI(scene)).toBe(ACCOUNT);
});

it('by the login of a person, in the file that gcloud writes', async () => {
  const scene = openScene();
  scene.fake.world.refreshTokens.set('r3fresh', 'user@example.com');
  scene.files.texts.set('/home/muster/.config/gcloud/application_default_credentials.json', JSON.stringify(USER));

  expect(await whoAmI(scene)).toBe('user@example.com');
});

it('by the token of another system, in a file that is rewritten, as text or JSON', async () => {
  const scene = openScene();
  const file = '/run/subject';
  scene.fake.world.subjectTokens.set('subject-1', 'principal://pool/a').set('subject-2', 'principal://pool/b');
  scene.writeCredentials(external({ file }));
  const source = defaultCredentials(scene.context, scene.files);
  const ask = async () => scene.fake.world.granted.whose((await scene.during(source(going()))).value);
  scene.files.texts.set(file, 'subject-1\n');
  expect(await ask()).toBe('principal://pool/a');
  scene.files.texts.set(file, 'subject-2\n');
  expect(await ask()).toBe('principal://pool/b');

  scene.writeCredentials(external({ file, format: { type: 'json', subject_token_field_name: 'id_token' } }));
  scene.files.texts.set(file, '{"id_token":"subject-1"}');
  expect(await ask()).toBe('principal://pool/a');
  scene.files.texts.set(file, '{"other":"subject-1"}');
  expect((await refusalOf(scene)).message).toContain('has no field id_token');
});

it('by the token of another system, from an address', async () => {
  const scene = openScene();
  scene.fake.world.subjectTokens.set('subject-1', 'principal://pool/a');
  const format = { type: 'json', subject_token_field_name: 'id_token' };
  const headers = { 'X-Who-Asks': 'muster' };
  scene.writeCredentials(external({ url: 'http://workload.test/token?audience=google', headers, format }));

  expect(await whoAmI(scene)).toBe('principal://pool/a');
});

it('acts as a service account where the file says so, if it may', async () => {
  const scene = openScene();
  const file = '/run/subject';
  scene.files.texts.set(file, 'subject-1');
  scene.fake.world.subjectTokens.set('subject-1', 'principal://pool/a');
  scene.writeCredentials({ ...external({ file }), service_account_impersonation_url: IMPERSONATE });
  expect(await refusalOf(scene)).toMatchObject({
    kind: 'denied',
    remedy: expect.stringContaining('roles/iam.serviceAccountTokenCreator'),
  });
  scene.fake.world.mayActAs.set('principal://pool/a', new Set([ACCOUNT]));
  expect(await whoAmI(scene)).toBe(ACCOUNT);

  scene.fake.world.refreshTokens.set('r3fresh', 'user@example.com');
  scene.fake.world.mayActAs.set('user@example.com', new Set([ACCOUNT]));
  scene.writeCredentials({
    type: 'impersonated_service_account',
    service_account_impersonation_url: IMPERSONATE,
    source_credentials: USER,
  });
  expect(await whoAmI(scene)).toBe(ACCOUNT);
});

it('without a file by the metadata server, and where that is none either says where it looked', async () => {
  const scene = openScene();
  scene.fake.world.machineAccount = ACCOUNT;
  expect(await whoAmI(scene)).toBe(ACCOUNT);

  scene.fake.failureRules.add({ what: { kind: 'no such host' }, times: 99 });
  expect(await refusalOf(scene)).toMatchObject({
    kind: 'unavailable',
    message: expect.stringMatching(/GOOGLE_APPLICATION_CREDENTIALS \(not set\).*gcloud.*metadata\.google\.internal/),
  });
});

it('a file that is named and is not there is no reason to look elsewhere', async () => {
  const scene = openScene();
  scene.fake.world.machineAccount = ACCOUNT;
  scene.variables.GOOGLE_APPLICATION_CREDENTIALS = '/nowhere/key.json';

  expect(await refusalOf(scene)).toMatchObject({
    kind: 'missing',
    message: 'GOOGLE_APPLICATION_CREDENTIALS: The file /nowhere/key.json does not exist.',
  });
});

it.each([
  ['no JSON', '{"type": "service_acc', 'invalid'],
  ['of another type', { type: 'gdch_service_account' }, 'unsupported'],
  ['without the key', { ...SERVICE_ACCOUNT, private_key: undefined }, 'invalid'],
  ['with half a key', { ...SERVICE_ACCOUNT, private_key: SERVICE_ACCOUNT.private_key.slice(0, 200) }, 'invalid'],
])('credentials %s are refused without showing them', async (_name, credentials, kind) => {
  const scene = openScene();
  const path = scene.writeCredentials(credentials);
  const fault = await refusalOf(scene);

  expect(fault.kind).toBe(kind);
  expect(`${fault.message} ${fault.at}`).toMatch(kind === 'invalid' ? /key\.json|private_key/ : path);
  expect(fault.message).not.toContain(SERVICE_ACCOUNT.private_key.slice(30, 60));
});

it('a revoked login says how to log in again', async () => {
  const scene = openScene();
  scene.writeCredentials(USER);

  expect(await refusalOf(scene)).toMatchObject({
    kind: 'unauthenticated',
    message: expect.stringContaining('Token has been expired or revoked.'),
    remedy: expect.stringContaining('gcloud auth application-default login'),
  });
});
