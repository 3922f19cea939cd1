// What a running server leaves in its data directory for commands on the same machine.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Word {
  readonly pid: number;
  readonly http: string;
  readonly grpc: string;
  readonly epoch: number;
  readonly version: string;
}

const SERVER_FILE = 'server.json';
const AUTHORITY_FILE = 'ca.pem';

/** Says where the server is, and whom to trust there; the returned function takes the first back. */
export function leaveWord(dataDir: string, word: Word, ca: string | undefined): () => void {
  const file = join(dataDir, SERVER_FILE);
  const text = `${JSON.stringify(word)}\n`;
  // No secret: whoever wants to trust the server elsewhere takes it along.
  if (ca !== undefined) writeFileSync(join(dataDir, AUTHORITY_FILE), ca, { mode: 0o644 });
  writeFileSync(file, text, { mode: 0o600 });
  return () => {
    // A replica that shares the folder may have left its own word since.
    const isOurs = existsSync(file) && readFileSync(file, 'utf8') === text;
    if (isOurs) rmSync(file, { force: true });
  };
}
