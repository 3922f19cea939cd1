// The real server: `node src/main.ts server` in a folder of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { DATA } from './scratch.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface ServerOptions {
  /** Where its files are; its data lie below. */
  readonly folder: string;
  /** Absent: SQLite in that folder. */
  readonly store?: string | undefined;
  /** What its file says beside addresses and store. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly httpPort?: number;
  readonly flags?: readonly string[];
  /** The program, from the repository's root; or its whole path. */
  readonly entry?: string;
}

export interface Serving {
  readonly http: string;
  readonly grpc: string;
  /** After how long it said so. */
  readonly afterMs: number;
}

export interface RunningServer {
  readonly pid: number;
  readonly startedMs: number;
  /** Where its data are. */
  readonly dataDir: string;
  /** Resolves when it serves. */
  readonly serving: Promise<Serving>;
  token(): string;
  /** All lines of its log so far. */
  readonly lines: readonly string[];
  stop(): Promise<void>;
  kill(): Promise<void>;
}

function writeConfig({ folder, store, config, httpPort = 0 }: ServerOptions, dataDir: string): string {
  const file = join(folder, 'muster.json');
  const server = { http_address: `127.0.0.1:${httpPort}`, grpc_address: '127.0.0.1:0' };
  writeFileSync(file, JSON.stringify({ server, data_dir: dataDir, ...(store && { store }), ...config }));
  return file;
}

/** Hears the log until the server says that it serves. */
function listen(child: ChildProcess, lines: string[], startedMs: number): Promise<Serving> {
  return new Promise((resolve, reject) => {
    if (!child.stderr) return;
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      if (!line.includes('"serving"')) return;
      const { http, grpc } = JSON.parse(line) as Serving;
      resolve({ http, grpc, afterMs: systemClock.monotonic() - startedMs });
    });
    child.once('exit', (code) => reject(new Fault('internal', `The server ended with ${code}: ${lines.join('\n')}`)));
  });
}

export function startServer(options: ServerOptions): RunningServer {
  const { folder, flags = [], entry = 'src/main.ts' } = options;
  const dataDir = join(folder, DATA);
  const file = writeConfig(options, dataDir);
  const lines: string[] = [];
  const startedMs = systemClock.monotonic();
  const child = spawn(process.execPath, [...flags, resolve(ROOT, entry), 'server', '--config', file], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const serving = listen(child, lines, startedMs);
  serving.catch(() => {});
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await ended;
  };
  return {
    pid: child.pid ?? 0,
    startedMs,
    dataDir,
    serving,
    token: () => readFileSync(join(dataDir, 'admin.token'), 'utf8').trim(),
    lines,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}
