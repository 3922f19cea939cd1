import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '#core/clock.ts';
import type { Bench, Report } from './bench.ts';
import { fixedWorkMs } from './parts/fixed-work.ts';
import { cpuOf } from './parts/processes.ts';
import { startProgram } from './parts/program.ts';
import { withFolder } from './parts/scratch.ts';
import type { BareCalls } from './programs/bare.ts';
import type { CallerCalls } from './programs/callers.ts';
import type { EchoCalls } from './programs/echoes.ts';
import { YARDSTICKS, type YardstickName } from './yardsticks.ts';

const CALLERS = 64;
const STREAMS = 100;
const HOST = '127.0.0.1';
const ECHO_PATH = '/bench.Bare/Echo';

/** Rows one after the other, each durable before the next: microseconds for one. */
function rowUs(folder: string, forMs: number): number {
  const database = new DatabaseSync(join(folder, 'rows.db'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (id TEXT, body TEXT)');
  const insert = database.prepare('INSERT INTO rows VALUES (?, ?)');
  const body = 'x'.repeat(300);
  const startMs = systemClock.monotonic();
  let rows = 0;
  let tookMs = 0;
  for (; tookMs < forMs; tookMs = systemClock.monotonic() - startMs) insert.run(String(rows++), body);
  database.close();
  return (tookMs * 1_000) / rows;
}

interface Bare {
  readonly httpUs: number;
  readonly waitMs: number;
  readonly echoUs: number;
}

async function bareServer(forMs: number): Promise<Bare> {
  const server = startProgram<BareCalls>('bare');
  const callers = startProgram<CallerCalls>('callers');
  const echoes = startProgram<EchoCalls>('echoes');
  const { httpPort, grpc } = await server.ask('open', ECHO_PATH);
  const calling = { host: HOST, port: httpPort, token: 'none', pool: 'none', callers: CALLERS, sessionsPerPost: 1 };
  const echoing = { address: grpc, path: ECHO_PATH, streams: STREAMS };
  await callers.ask('call', { ...calling, forMs });
  const beforeUs = cpuOf(server.pid);
  const { accepted, answerP99Ms } = await callers.ask('call', { ...calling, forMs });
  const httpUs = (cpuOf(server.pid) - beforeUs) / accepted;
  await echoes.ask('echo', { ...echoing, forMs });
  const beforeEchoUs = cpuOf(server.pid);
  const echoed = await echoes.ask('echo', { ...echoing, forMs });
  const echoUs = (cpuOf(server.pid) - beforeEchoUs) / echoed;
  await Promise.all([server.end(), callers.end(), echoes.end()]);
  return { httpUs, waitMs: answerP99Ms, echoUs };
}

async function run(report: Report): Promise<void> {
  const forMs = report.isQuick ? 500 : 2_000;
  report.figure('machine-js', fixedWorkMs(report.isQuick ? 5 : 15));
  report.figure('machine-row', await withFolder(async (folder) => rowUs(folder, forMs)));
  const { httpUs, waitMs, echoUs } = await bareServer(forMs);
  report.figure('machine-http', httpUs);
  report.figure('machine-wait', waitMs);
  report.figure('machine-echo', echoUs);
  report.figure('machine-session', httpUs + echoUs);
}

/** Runs before all others, whichever were asked for. */
export const bench: Bench = {
  order: 0,
  name: 'machine',
  measures: Object.keys(YARDSTICKS) as YardstickName[],
  limitMs: 60_000,
  run,
};
