import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Token } from '#core/access.ts';
import { Fault } from '#core/fault.ts';
import { SELF } from '#core/journal.ts';
import type { Store } from '#core/store.ts';
import type { Tokens } from './tokens.ts';

export const ADMIN_TOKEN_FILE = 'admin.token';
const NAME = 'local admin';
// One for each replica; tokens of deleted data directories are revoked, oldest first.
const MOST_KEPT = 16;

async function readHeld(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    return undefined;
  }
}

async function writeHeld(file: string, text: string): Promise<void> {
  try {
    // Write a new file and rename it: another process may hold the old one open with wider permissions.
    await writeFile(`${file}.new`, `${text}\n`, { mode: 0o600 });
    await chmod(`${file}.new`, 0o600);
    await rename(`${file}.new`, file);
  } catch (cause) {
    throw new Fault('denied', `Cannot write ${file}.`, {
      cause,
      remedy: 'Make its directory writable for the server.',
    });
  }
}

const isAdmin = (token: Token | undefined): boolean =>
  token !== undefined && 'role' in token.use && token.use.role === 'admin';

/** Ensures that the data directory has a valid admin token, readable only for the user of the server. */
export async function ensureAdminToken(dataDir: string, tokens: Tokens, store: Store): Promise<string> {
  const file = join(dataDir, ADMIN_TOKEN_FILE);
  const held = await readHeld(file);
  if (held !== undefined && isAdmin(tokens.find(held))) {
    await chmod(file, 0o600);
    return file;
  }
  const earlier = [...store.view.tokens.all()].filter((token) => token.name === NAME);
  const surplus = earlier
    .toSorted((a, b) => a.createdAt - b.createdAt)
    .slice(0, Math.max(0, earlier.length + 1 - MOST_KEPT));
  for (const token of surplus) await tokens.revoke(token.id, SELF);
  const { text } = await tokens.create({ name: NAME, use: { role: 'admin' } }, SELF);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeHeld(file, text);
  return file;
}
