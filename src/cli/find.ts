import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '#core/fault.ts';
import type { Endpoint } from './client.ts';

/** What the environment says about the server; read by config/, handed in. */
export interface Surroundings {
  readonly address: string | undefined;
  readonly token: string | undefined;
  /** File of the authority to trust. */
  readonly ca?: string | undefined;
  /** Where a server on this machine keeps its files. */
  readonly dataDir: string;
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

function isServerAddress(address: string): boolean {
  const url = URL.parse(withScheme(address));
  return url?.protocol === 'http:' || url?.protocol === 'https:';
}

/** A CA file given by name must exist; the one that a server writes may be missing. */
function authorityFor(named: string | undefined, dataDir: string): string | undefined {
  if (named === undefined) return readIfThere(join(dataDir, AUTHORITY_FILE));
  const text = readIfThere(named);
  if (text?.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new Fault('invalid', `${named} contains no readable certificate.`, {
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

function mustBeToken(text: string): string {
  const token = text.trim();
  if (!NOT_IN_TOKEN.test(token)) return token;
  throw new Fault('unauthenticated', 'The token contains invalid characters.', {
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

/** Precedence: option, environment, file of a running server, default. */
export function findServer(options: Asked, around: Surroundings): Endpoint {
  const tokenAgain = (): string | undefined => readIfThere(join(around.dataDir, TOKEN_FILE));
  const named = options.token ?? around.token;
  const known: readonly (readonly [string | undefined, string])[] = [
    [options.address, 'from --address'],
    [around.address, 'from MUSTER_ADDRESS'],
    [addressLeftIn(around.dataDir), `from ${join(around.dataDir, SERVER_FILE)}`],
    [DEFAULT_ADDRESS, 'the default'],
  ];
  if (named === undefined && (options.address ?? around.address) === undefined) mustRun(around);
  const [address, why] = known.find(([found]) => found !== undefined) as readonly [string, string];
  if (!isServerAddress(address)) {
    throw new Fault('invalid', `${address} (${why}) is not a valid server address.`, {
      remedy: `Write it like ${DEFAULT_ADDRESS}.`,
    });
  }
  const token = named === undefined ? { token: tokenAgain(), tokenAgain } : { token: mustBeToken(named) };
  return { ...token, address: withScheme(address), ca: authorityFor(options.ca ?? around.ca, around.dataDir), why };
}
