import { readFile } from 'node:fs/promises';
import type { NetworkInterfaceInfo } from 'node:os';
import { join } from 'node:path';
import { Fault } from '#core/fault.ts';
import { shortId } from '#core/id.ts';
import type { Random } from '#core/random.ts';
import { writeDurably } from '#host/durable-file.ts';

export interface NameSources {
  /** From the agent's file. */
  readonly configured?: string | undefined;
  /** From the environment. */
  readonly given?: string | undefined;
  readonly hostname: string;
}

/** Must be the name under which the machine was launched; random if no source has one. */
export function agentName({ configured, given, hostname }: NameSources, random: Random): string {
  return configured || given || hostname.split('.')[0] || shortId(random, 16);
}

const KEY_BYTES = 32;
const KEY = /^[0-9a-f]{64}$/;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

async function readKey(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Fault('denied', `Cannot read the agent's key ${path}.`, {
      cause: thrown,
      at: path,
      remedy: 'Run the agent as the owner of that file.',
    });
  }
}

/** The key by which the server recognises this agent: created at the first start, durable before it is sent. */
export async function ownKey(workDir: string, random: Random): Promise<string> {
  const path = join(workDir, 'agent.key');
  const kept = await readKey(path);
  if (kept === undefined) {
    const made = hex(random.bytes(KEY_BYTES));
    await writeDurably(path, `${made}\n`);
    return made;
  }
  if (KEY.test(kept)) return kept;
  throw new Fault('invalid', `The agent's key ${path} is damaged.`, {
    at: path,
    remedy: 'Restore it from a copy. Without it, replace this worker with a new one.',
  });
}

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** The first address of this machine that others may reach; empty if there is none. */
export function ownAddress(interfaces: Interfaces): string {
  const all = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  return all.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '';
}
