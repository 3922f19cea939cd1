// What we keep of a machine on disk: it is the cloud's own record, apart from the server's store, and outlives both
// the server and the agent.
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { readMark } from '#core/mark.ts';
import type { Mark } from '#core/provider.ts';
import type { Account } from '#host/account.ts';
import { writeFirst } from '#host/durable-file.ts';
import { type ProcessMark, parseShellMark } from '#host/processes.ts';

/** Durable before the agent's process exists. */
export interface MachineRecord {
  readonly name: string;
  readonly mark: Mark;
  readonly launch: string;
  /** In the environment of its agent, so that no other process passes for it. */
  readonly nonce: string;
  /** The start of the computer in which it was made: no process outlives it. */
  readonly boot: string;
  readonly createdAt: number;
  readonly workDir: string;
  /** Set where it runs as another user than the server: then all in its work directory is that user's to change. */
  readonly account?: Account | undefined;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

/** Names become paths, so nothing but plain words may be one. */
export function checkName(name: string): void {
  if (!NAME.test(name)) throw new Fault('invalid', `"${name}" is not a valid machine name.`);
}

/** The machines of which there is a folder; what others have left beside them is none of ours. */
export function machineNames(machinesPath: string): string[] {
  if (!existsSync(machinesPath)) return [];
  const entries = readdirSync(machinesPath, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory() && NAME.test(entry.name)).map(({ name }) => name);
}

// The longest is a mark, or one line of /proc.
const LONGEST_BYTES = 2 ** 16;

/** What another user may have put there leads nowhere else, blocks no caller and fills no memory. */
function readText(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (stat.isFile() && stat.size <= LONGEST_BYTES) return readFileSync(file, 'utf8');
    throw new Fault('unavailable', `Cannot read ${path}: it is not a small file.`, { at: path });
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Fault('unavailable', `Cannot read ${path}: ${(thrown as Error).message}.`, { at: path });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

export function readRecord<T>(path: string): T | undefined {
  const text = readText(path);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as T);
  } catch {
    throw new Fault('internal', `${path} is damaged.`, {
      at: path,
      remedy: 'Remove it if none of its processes run.',
    });
  }
}

function readMachine(path: string): MachineRecord | undefined {
  const record = readRecord<MachineRecord>(path);
  return record && { ...record, mark: readMark(record.mark) };
}

// A shell creates its file before it writes to it: a line is only complete with its end.
export const firstLine = (path: string): string => /^(.*)\n/.exec(readText(path) ?? '')?.[1] ?? '';

const BIRTH_MS = 5_000;
const VOID = 'void';

/** Writes that line where there is no such file, or throws. */
type WriteFirst = (path: string, line: string) => void | Promise<void>;

const writeVoid: WriteFirst = (path, line) => writeFileSync(path, `${line}\n`, { flag: 'wx', mode: 0o600 });

/**
 * Takes the place of the number that a shell writes down before it does anything: then it ends without doing it. Where
 * it was faster, its number follows at once, unless it was killed in between.
 */
export async function forbid(pidPath: string, clock: Clock, write: WriteFirst = writeVoid): Promise<void> {
  try {
    await write(pidPath, VOID);
  } catch {
    const deadlineMs = clock.monotonic() + BIRTH_MS;
    while (firstLine(pidPath) === '' && clock.monotonic() < deadlineMs) await clock.sleep(2);
  }
}

export interface MachineFolder {
  readonly path: string;
  readonly configPath: string;
  readonly logPath: string;
  readonly pidPath: string;
  record(): MachineRecord | undefined;
  /** Writes the record unless there is one; answers the one that stands. */
  claim(record: MachineRecord): Promise<MachineRecord>;
  /** When it was deleted; a name that was is never started again. */
  deletedAtMs(): number | undefined;
  markDeleted(nonce: string): Promise<void>;
  /** The agent's process, once it has begun. */
  agent(record: MachineRecord): ProcessMark | undefined;
  /** Whether the agent has written down its number, or has been forbidden to: from then on no other can. */
  hasBegun(): boolean;
  /** Makes sure that an agent which has not begun never will; one that is just beginning is waited for. */
  forbidStart(clock: Clock): Promise<void>;
  /** Removes all but the fact that the name was used. */
  empty(): void;
}

export function openMachineFolder(machinesPath: string, name: string): MachineFolder {
  checkName(name);
  const path = join(machinesPath, name);
  const at = (file: string): string => join(path, file);
  return {
    path,
    configPath: at('agent.yaml'),
    logPath: at('agent.log'),
    pidPath: at('pid'),
    record: () => readMachine(at('machine.json')),
    async claim(record) {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      const file = at('machine.json');
      if (!existsSync(file)) await writeFirst(file, JSON.stringify(record), `${file}.${record.nonce}`);
      return readMachine(file) ?? record;
    },
    deletedAtMs: () => statSync(at('deleted'), { throwIfNoEntry: false })?.mtimeMs,
    async markDeleted(nonce) {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      if (!existsSync(at('deleted'))) await writeFirst(at('deleted'), '', at(`deleted.${nonce}`));
    },
    agent: (record) => parseShellMark(firstLine(at('pid')), record.boot)?.mark,
    hasBegun: () => firstLine(at('pid')) !== '',
    forbidStart: (clock) => forbid(at('pid'), clock),
    empty() {
      for (const file of readdirSync(path)) {
        if (file !== 'deleted' && file !== 'pid') rmSync(at(file), { recursive: true, force: true });
      }
    },
  };
}
