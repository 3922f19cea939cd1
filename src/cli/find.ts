import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Fault } from '#core/fault.ts';
import type { Endpoint } from './client.ts';
import { currentContext, type NamedServer, readContexts } from './contexts.ts';

/** What the environment says about the server; read by config/, handed in. */
export interface Surroundings {
  readonly address: string | undefined;
  readonly token: string | undefined;
  /** File of the authority to trust. */
  readonly ca?: string | undefined;
  /** Where a server on this machine keeps its files. */
  readonly dataDir: string;
  /** File of the servers that someone has named. */
  readonly contextsFile?: string | undefined;
}

/** What a running server leaves in its data directory for commands on the same machine. */
export const SERVER_FILE = 'server.json';
export const TOKEN_FILE = 'admin.token';
export const AUTHORITY_FILE = 'ca.pem';
/** One file for each replica that uses the directory: what clients may call it by. */
export const ADDRESSES_FOLDER = 'addresses';

const DEFAULT_ADDRESS = 'http://127.0.0.1:8081';

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}

function leftIn(file: string): { http?: unknown } {
  try {
    return (JSON.parse(readIfThere(file) ?? '{}') as { http?: unknown } | null) ?? {};
  } catch {
    return {};
  }
}

function addressLeftIn(dataDir: string): string | undefined {
  const { http } = leftIn(join(dataDir, SERVER_FILE));
  return typeof http === 'string' ? http : undefined;
}

function recordsIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Scheme, host and port of the servers of a data directory: the only places for its token. */
function ownOrigins(dataDir: string): ReadonlySet<string> {
  const written = recordsIn(join(dataDir, ADDRESSES_FOLDER)).flatMap((file) => leftIn(file).http ?? []);
  const all = [addressLeftIn(dataDir), ...written].map((origin) => URL.parse(String(origin))?.origin);
  return new Set(all.filter((origin) => origin !== undefined));
}

/** The own server that an address means. `localhost` may lead to another program than the address that it is a name of. */
function ownOrigin(asked: string, dataDir: string): string | undefined {
  const own = ownOrigins(dataDir);
  const numbers = ['127.0.0.1', '[::1]'].map((host) => asked.replace('//localhost', `//${host}`));
  return [asked, ...numbers].find((origin) => own.has(origin));
}

const withScheme = (address: string): string =>
  /^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `http://${address}`;

/** Scheme, host and port of an address, or a `Fault` that says where the address came from. */
export function serverOrigin(address: string, why: string): string {
  const url = URL.parse(withScheme(address));
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.origin;
  throw new Fault('invalid', `${address} (${why}) is not a valid server address.`, {
    remedy: `Write it like ${DEFAULT_ADDRESS}.`,
  });
}

/** The certificates of a file that someone named. */
export function authorityIn(file: string): string {
  const text = readIfThere(file);
  if (text?.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new Fault('invalid', `${file} contains no readable certificate.`, {
    remedy: 'Give a PEM file: ca.pem in the data directory of the server.',
  });
}

interface Asked {
  readonly address?: string;
  readonly token?: string;
  readonly ca?: string;
}

// Node repeats an invalid header value in its error message, so the token is checked before.
const NOT_IN_TOKEN = /[^\x21-\x7e]/;

/** A token without the blanks around it; a `Fault` that does not show it where it is none. */
export function tokenIn(text: string): string {
  const token = text.trim();
  if (token !== '' && !NOT_IN_TOKEN.test(token)) return token;
  throw new Fault('unauthenticated', token === '' ? 'The token is empty.' : 'The token contains invalid characters.', {
    remedy: 'Set MUSTER_TOKEN to the token alone, on one line.',
  });
}

/** A server that stopped cleanly removed its address file and left its token, which no other server accepts. */
function mustRun({ dataDir }: Surroundings): void {
  const isThere = (file: string): boolean => existsSync(join(dataDir, file));
  if (!isThere(TOKEN_FILE) || isThere(SERVER_FILE)) return;
  throw new Fault('unavailable', `The server of ${dataDir} is not running.`, {
    remedy:
      'Start it with `muster server` (in a clone `npm start`), or give another address with --address or MUSTER_ADDRESS.',
  });
}

type Credentials = Pick<Endpoint, 'token' | 'tokenAgain' | 'whyNoToken'>;

/** A token goes only where it is for: that of a context to its address, that of a data directory to its own servers. */
function credentialsFor(
  origin: string,
  { named, context, dataDir }: { named: string | undefined; context: NamedServer | undefined; dataDir: string },
): Credentials {
  if (named !== undefined) return { token: tokenIn(named) };
  const unset = 'MUSTER_TOKEN is not set, and';
  if (context) return { token: context.token, whyNoToken: `${unset} the context ${context.name} has none.` };
  const file = join(dataDir, TOKEN_FILE);
  const isOwn = (): boolean => ownOrigin(origin, dataDir) !== undefined;
  const tokenAgain = (): string | undefined => (isOwn() ? readIfThere(file) : undefined);
  const folder = `the data directory ${resolve(dataDir)}`;
  const whyNoToken = existsSync(file)
    ? `${unset} the token in ${folder} is only for the server of that directory.`
    : `${unset} there is none in ${folder}.`;
  return { token: tokenAgain(), tokenAgain, whyNoToken };
}

/** Precedence: option, environment, current context, file of a running server, default. */
export function findServer(options: Asked, around: Surroundings): Endpoint {
  const context = around.contextsFile === undefined ? undefined : currentContext(readContexts(around.contextsFile));
  const named = options.token ?? around.token;
  const known: readonly (readonly [string | undefined, string])[] = [
    [options.address, 'from --address'],
    [around.address, 'from MUSTER_ADDRESS'],
    [context?.address, `of the context ${context?.name}`],
    [addressLeftIn(around.dataDir), `from ${join(around.dataDir, SERVER_FILE)}`],
    [DEFAULT_ADDRESS, 'the default'],
  ];
  if (named === undefined && (options.address ?? around.address ?? context) === undefined) mustRun(around);
  const [address, why] = known.find(([found]) => found !== undefined) as readonly [string, string];
  const origin = serverOrigin(address, why);
  const own = origin === context?.address ? context : undefined;
  const meant = named === undefined && !own ? ownOrigin(origin, around.dataDir) : undefined;
  const caFile = options.ca ?? around.ca;
  return {
    ...credentialsFor(origin, { named, context: own, dataDir: around.dataDir }),
    address: meant ?? withScheme(address),
    ca: caFile === undefined ? (own?.ca ?? readIfThere(join(around.dataDir, AUTHORITY_FILE))) : authorityIn(caFile),
    pool: own?.pool,
    why,
  };
}
