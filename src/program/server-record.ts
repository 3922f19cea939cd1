// What a running server leaves in its data directory for commands on the same machine.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, formatAddress } from '../edge/address.ts';

/** How to reach the server that runs on this data directory. */
export interface ServerRecord {
  readonly pid: number;
  readonly http: string;
  readonly grpc: string;
  readonly epoch: number;
  readonly version: string;
}

const SERVER_FILE = 'server.json';
const AUTHORITY_FILE = 'ca.pem';
const ADDRESSES_FOLDER = 'addresses';

/**
 * Writes what clients may call this process by, also while it stands by: commands send the token of this folder nowhere else.
 * One file for each address at which a process listens, since replicas may share the folder. The returned function removes it.
 */
export function writeOrigins(dataDir: string, listening: Address, origins: readonly string[]): () => void {
  const folder = join(dataDir, ADDRESSES_FOLDER);
  // Not `recursive`: on a read-only disk Node then says that there is no such folder.
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  const file = join(folder, `${encodeURIComponent(formatAddress(listening))}.json`);
  writeFileSync(file, `${JSON.stringify({ http: origins })}\n`, { mode: 0o600 });
  return () => rmSync(file, { force: true });
}

/** Writes where the server is and which authority to trust; the returned function removes the record. */
export function writeServerRecord(dataDir: string, record: ServerRecord, ca: string | undefined): () => void {
  const file = join(dataDir, SERVER_FILE);
  const text = `${JSON.stringify(record)}\n`;
  // No secret: clients elsewhere need it to trust the server.
  if (ca !== undefined) writeFileSync(join(dataDir, AUTHORITY_FILE), ca, { mode: 0o644 });
  writeFileSync(file, text, { mode: 0o600 });
  return () => {
    // A replica that shares the folder may have written its own since.
    const isOurs = existsSync(file) && readFileSync(file, 'utf8') === text;
    if (isOurs) rmSync(file, { force: true });
  };
}
