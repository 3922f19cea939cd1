import { existsSync, readFileSync } from 'node:fs';
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

const DEFAULT_ADDRESS = 'http://127.0.0.1:8081';

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}

function addressLeftIn(dataDir: string): string | undefined {
  try {
    const left = JSON.parse(readIfThere(join(dataDir, SERVER_FILE)) ?? '{}') as { http?: string };
    return left.http;
  } catch {
    return undefined;
  }
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
    remedy: 'Start the server with `npm start`, or give another address with --address or MUSTER_ADDRESS.',
  });
}

type Credentials = Pick<Endpoint, 'token' | 'tokenAgain' | 'lookedIn'>;

/** `context` is given only where the address is its own: its token goes nowhere else, and no other goes there. */
function credentialsFor(named: string | undefined, around: Surroundings, context?: NamedServer): Credentials {
  if (named !== undefined) return { token: tokenIn(named) };
  if (context) return { token: context.token };
  const tokenAgain = (): string | undefined => readIfThere(join(around.dataDir, TOKEN_FILE));
  return { token: tokenAgain(), tokenAgain, lookedIn: resolve(around.dataDir) };
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
  const own = serverOrigin(address, why) === context?.address ? context : undefined;
  const caFile = options.ca ?? around.ca;
  return {
    ...credentialsFor(named, around, own),
    address: withScheme(address),
    ca: caFile === undefined ? (own?.ca ?? readIfThere(join(around.dataDir, AUTHORITY_FILE))) : authorityIn(caFile),
    pool: own?.pool,
    why,
  };
}
