// Files of one run on disk, so that neither an agent restart nor a lost connection loses data.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Fault } from '#core/fault.ts';
import type { SessionSpec } from '#core/session.ts';
import { syncFolder, writeDurably } from '#host/durable-file.ts';
import { type ProcessMark, parseShellMark } from '#host/processes.ts';

/** The start command of the server; durable before any process starts. */
export interface RunRecord {
  readonly session: string;
  readonly attempt: number;
  readonly spec: SessionSpec;
  readonly acceptedAt: number;
  /** Boot id of the machine when the run was accepted. */
  readonly boot: string;
  /** Counts attempts to start it; only the last one may ever run. */
  readonly launch: number;
  /** Folder of its control group, where the machine allows one: what leaves its process group is found there. */
  readonly cgroup?: string | undefined;
}

/** Why the agent ends it; on disk so that a restarted agent continues. */
export interface Stop {
  readonly how: 'killed' | 'timeout';
  readonly at: number;
  readonly killAt: number;
  readonly message?: string | undefined;
}

/** The processes of a run, as its wrapper recorded them. */
export interface RunProcesses {
  readonly leader: ProcessMark;
  /** They copy output into files, and exit at the end of the output. */
  readonly carriers: readonly number[];
}

/** The process that leads the terminal, and the terminal's device. */
export interface RunTerminal {
  readonly leader: ProcessMark;
  readonly device: string;
}

export interface Folder {
  readonly path: string;
  readonly outPath: string;
  readonly errPath: string;
  readonly indexPath: string;
  /** The script that a terminal runs. */
  readonly innerPath: string;
  pidPath(launch: number): string;
  pipesPath(launch: number): string;
  create(): void;
  readRecord(): RunRecord | undefined;
  writeRecord(record: RunRecord): Promise<void>;
  /** Prevents a launch of this number from starting; false if it has already started. */
  isVoided(launch: number): boolean;
  readProcesses(record: RunRecord): RunProcesses | undefined;
  readTerminal(record: RunRecord): RunTerminal | undefined;
  /** Exit code of the command, once it has ended; 128 + number for a signal. */
  readExitCode(): number | undefined;
  /** Whether the disk had no room for output or for the exit code; known when the wrapper has ended. */
  wasDiskFull(): boolean;
  readStop(): Stop | undefined;
  writeStop(stop: Stop): void;
  readEnd<End>(): End | undefined;
  writeEnd(end: object): void;
  remove(): void;
}

const SESSION = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;
const FOLDER = /^([A-Za-z0-9][A-Za-z0-9_-]{0,99})\.(\d{1,9})$/;

/** Folder name of a run. Ids come over the network, so only plain words may become a path. */
export function folderName(session: string, attempt: number): string {
  if (!SESSION.test(session) || !Number.isSafeInteger(attempt) || attempt < 0 || attempt > 999_999_999)
    throw new Fault('invalid', `"${session}" (attempt ${attempt}) is not a valid session id.`);
  return `${session}.${attempt}`;
}

export function parseFolderName(name: string): { session: string; attempt: number } | undefined {
  const match = FOLDER.exec(name);
  return match ? { session: match[1] as string, attempt: Number(match[2]) } : undefined;
}

// A shell cannot write a file atomically, but a line is complete only with its line end.
function readLine(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'latin1');
    const end = text.indexOf('\n');
    return end < 0 ? undefined : text.slice(0, end);
  } catch {
    return undefined;
  }
}

function readJson<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch {
    return undefined;
  }
}

function writeJson(path: string, value: object): void {
  writeFileSync(`${path}.draft`, JSON.stringify(value), { mode: 0o600 });
  renameSync(`${path}.draft`, path);
}

const VOID = 'void';
/** Follows the exit code where output could not be written. */
export const UNWRITTEN = 'unwritten';

export function openFolder(path: string): Folder {
  const at = (name: string): string => join(path, name);
  const pidPath = (launch: number): string => at(`pid.${launch}`);
  return {
    path,
    outPath: at('out'),
    errPath: at('err'),
    indexPath: at('index'),
    innerPath: at('inner'),
    pidPath,
    pipesPath: (launch) => at(`pipes.${launch}`),
    create: () => void mkdirSync(path, { recursive: true, mode: 0o700 }),
    readRecord: () => readJson<RunRecord>(at('record.json')),
    async writeRecord(record) {
      mkdirSync(at(`pipes.${record.launch}`), { recursive: true, mode: 0o700 });
      await Promise.all([writeDurably(at('record.json'), JSON.stringify(record)), syncFolder(dirname(path))]);
    },
    isVoided(launch) {
      try {
        writeFileSync(pidPath(launch), `${VOID}\n`, { flag: 'wx', mode: 0o600 });
      } catch {
        return readLine(pidPath(launch)) === VOID;
      }
      return true;
    },
    readProcesses(record) {
      const found = parseShellMark(readLine(pidPath(record.launch)) ?? '', record.boot);
      return found && { leader: found.mark, carriers: found.words.map(Number) };
    },
    readTerminal(record) {
      const found = parseShellMark(readLine(at('terminal')) ?? '', record.boot);
      const device = found?.words[0];
      return found && device?.startsWith('/dev/') ? { leader: found.mark, device } : undefined;
    },
    readExitCode() {
      const line = readLine(at('exit'));
      return line === undefined ? undefined : Number(line);
    },
    wasDiskFull() {
      try {
        const text = readFileSync(at('exit'), 'latin1');
        return text === '' || text.includes(UNWRITTEN);
      } catch {
        return false;
      }
    },
    readStop: () => readJson<Stop>(at('stop.json')),
    writeStop: (stop) => writeJson(at('stop.json'), stop),
    readEnd: <End>() => readJson<End>(at('end.json')),
    writeEnd: (end) => writeJson(at('end.json'), end),
    remove: () => {
      // Renamed first: a half-deleted folder must never be taken for a run.
      const doomed = `${path}.gone`;
      if (existsSync(path)) renameSync(path, doomed);
      rmSync(doomed, { recursive: true, force: true });
    },
  };
}
