// Servers that someone works with, by name: address and token, in one file that only its owner may read.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';

/** The server of this machine, found by its data directory: what is used where no context is. */
export const LOCAL = 'local';

const NamedServer = z.strictObject({
  name: z.string(),
  /** Scheme, host and port: the only place where its token goes. */
  address: z.string(),
  token: z.string().optional(),
  /** Of the authority to trust besides, as PEM. */
  ca: z.string().optional(),
  pool: z.string().optional(),
});
export type NamedServer = z.infer<typeof NamedServer>;

const Contexts = z.strictObject({ current: z.string().optional(), contexts: z.array(NamedServer) });
export type Contexts = z.infer<typeof Contexts>;

const NONE: Contexts = { contexts: [] };
const OTHERS = 0o077;

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Fault('invalid', `${file} cannot be read: ${(thrown as Error).message}.`, { remedy: 'Check its owner.' });
  }
}

export function readContexts(file: string): Contexts {
  const text = textOf(file);
  if (text === undefined) return NONE;
  if ((statSync(file).mode & OTHERS) !== 0) {
    throw new Fault('denied', `Others on this machine can read the tokens in ${file}.`, {
      remedy: `Run \`chmod 600 ${file}\`, and create new tokens.`,
    });
  }
  try {
    return Contexts.parse(JSON.parse(text));
  } catch (cause) {
    const remedy = 'Correct it, or delete it and add the contexts again with `muster context add`.';
    throw new Fault('invalid', `${file} is damaged.`, { cause, remedy });
  }
}

/** Whole or not at all, and never readable by others. */
export function writeContexts(file: string, contexts: Contexts): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  // One that another process of this number left may have another mode.
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(draft, file);
}

/** The context of that name, or a `Fault` that names the nearest. */
export function contextNamed({ contexts }: Contexts, name: string): NamedServer {
  const found = contexts.find((context) => context.name === name);
  if (found) return found;
  const meant = nearest(name, [LOCAL, ...contexts.map((context) => context.name)]);
  throw new Fault('missing', `There is no context ${name}.`, {
    remedy: meant === undefined ? 'List contexts with `muster context ls`.' : `Did you mean ${meant}?`,
  });
}

/** The one that commands use; undefined: the server of this machine. */
export function currentContext(contexts: Contexts): NamedServer | undefined {
  return contexts.current === undefined ? undefined : contextNamed(contexts, contexts.current);
}
