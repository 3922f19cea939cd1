// Which proxy a request goes through, by the variables that curl and kubectl read. Pure: the caller reads the environment
// and hands them in.
import { BlockList, isIP } from 'node:net';
import { Fault } from '#core/fault.ts';

/** The address of the proxy for that URL, with its credentials; nothing where the request goes straight. */
export type ProxyFor = (url: string) => string | undefined;

/** This machine and what only this machine can ask: link-local metadata services of clouds. */
const ALWAYS_STRAIGHT =
  'localhost,127.0.0.0/8,::1,169.254.0.0/16,fe80::/10,fd00:ec2::254,168.63.129.16,metadata.google.internal';

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };
const SCHEMES = /^(?:https?|socks5?):$/;

type Rule = (host: string, port: string) => boolean;

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

function addressRule(address: string, bits: string | undefined): Rule {
  const list = new BlockList();
  const family = familyOf(address);
  if (bits === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(bits), family);
  return (host) => isIP(host) !== 0 && list.check(host, familyOf(host));
}

/** `example.com` and `.example.com` mean the name and all below it, `10.0.0.0/8` a network, `host:8080` one port. */
function ruleOf(written: string): Rule {
  const [address = '', bits] = written.replace(/[[\]]/g, '').split('/');
  if (isIP(address) !== 0) return addressRule(address, bits);
  const [name = '', onlyPort] = written.split(':');
  const suffix = name.replace(/^\*?\./, '').toLowerCase();
  const isName: Rule = (host) => suffix === '*' || host === suffix || host.endsWith(`.${suffix}`);
  return (host, port) => isName(host, port) && (onlyPort === undefined || onlyPort === port);
}

const rulesOf = (text: string): Rule[] => text.split(/[\s,]+/).flatMap((one) => (one === '' ? [] : [ruleOf(one)]));

function readAddress(name: string, written: string): string {
  const text = /^[a-z0-9]+:\/\//i.test(written) ? written : `http://${written}`;
  if (URL.canParse(text) && SCHEMES.test(new URL(text).protocol)) return text;
  // Not the value: it may hold a password.
  throw new Fault('invalid', `${name} is not the address of a proxy.`, {
    remedy: `Write ${name} as http://host:port, or unset it.`,
  });
}

/** Nothing where no proxy is set. In capitals or not; capitals win. */
export function readProxies(variable: (name: string) => string | undefined): ProxyFor | undefined {
  const either = (name: string): string | undefined => variable(name) || variable(name.toLowerCase()) || undefined;
  const addressIn = (name: string): string | undefined => {
    const written = either(name);
    return written === undefined ? undefined : readAddress(name, written);
  };
  const byProtocol: Readonly<Record<string, string | undefined>> = {
    'http:': addressIn('HTTP_PROXY'),
    'https:': addressIn('HTTPS_PROXY'),
  };
  if (Object.values(byProtocol).every((address) => address === undefined)) return undefined;
  const straight = rulesOf(`${ALWAYS_STRAIGHT},${either('NO_PROXY') ?? ''}`);
  return (url) => {
    const { protocol, hostname, port } = new URL(url);
    const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
    const isStraight = straight.some((rule) => rule(host, port || (DEFAULT_PORTS[protocol] ?? '')));
    return isStraight ? undefined : byProtocol[protocol];
  };
}
