// Bytes through `muster port-forward` beside the same bytes through socat, in turns.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#core/clock.ts';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import { clearDataDir } from '../src/providers/process/testing.ts';
import type { Bench, Report } from './bench.ts';
import { submit } from './parts/api.ts';
import { percentile } from './parts/numbers.ts';
import { withFolder } from './parts/scratch.ts';
import { startServer } from './parts/server.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const PIECE = Buffer.alloc(64 * 1024, 'x');
const POOL = {
  name: 'local',
  auto_scaler: { backend: { process: {} }, max_agents: 1, min_agents: 1, min_idle_agents: 0, max_idle_agents: 1 },
};

// `u` takes all and answers one byte at the end; `d` and a number sends so many pieces.
const PEER = `
const piece = Buffer.alloc(64 * 1024, 'x');
require('node:net').createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('error', () => {});
  socket.once('data', (first) => {
    if (first[0] === 117) return socket.on('data', () => {}).on('end', () => socket.end('k'));
    let left = Number(first.subarray(1));
    const send = () => { while (left-- > 0) if (!socket.write(piece)) return socket.once('drain', send); socket.end(); };
    send();
  });
}).listen(Number(process.argv[1]), '127.0.0.1');
`;

function hasSocat(): boolean {
  try {
    execFileSync('socat', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Milliseconds for so many pieces in that direction. */
function exchange(port: number, direction: 'up' | 'down', pieces: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const startMs = systemClock.monotonic();
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.once('error', reject).on('data', () => {});
    socket.once('end', () => {
      resolve(systemClock.monotonic() - startMs);
      socket.end();
    });
    if (direction === 'down') return void socket.write(`d${pieces}`);
    let left = pieces;
    const send = (): void => {
      while (left-- > 0) if (!socket.write(PIECE)) return void socket.once('drain', send);
      socket.end();
    };
    socket.write('u', () => send());
  });
}

async function compare(local: { ours: number; socat: number | undefined }, report: Report): Promise<void> {
  const pieces = report.isQuick ? 800 : 3_200;
  const megabytes = (pieces * PIECE.length) / 1e6;
  for (const direction of ['up', 'down'] as const) {
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let n = 0; n < (report.isQuick ? 3 : 7); n++) {
      ours.push(megabytes / ((await exchange(local.ours, direction, pieces)) / 1_000));
      if (local.socat) theirs.push(megabytes / ((await exchange(local.socat, direction, pieces)) / 1_000));
    }
    const rate = percentile(ours, 0.5);
    const peer = local.socat ? '' : '; no socat here to compare with';
    report.figure(`port-forward-${direction}`, rate, { note: `${megabytes.toFixed(0)} MB${peer}` });
    if (local.socat)
      report.figure(`port-forward-${direction}-share`, rate / percentile(theirs, 0.5), { note: 'socat in turns' });
  }
}

async function measure(folder: string, report: Report): Promise<void> {
  const server = startServer({ folder, config: { agent_pools: [POOL] } });
  const children: ChildProcess[] = [];
  try {
    const [target, ours, other] = [await freePort(), await freePort(), await freePort()];
    const { http } = await server.serving;
    const { id } = await submit(server, POOL.name, [process.execPath, '-e', PEER, `${target}`]);
    const env = { ...process.env, MUSTER_ADDRESS: http, MUSTER_TOKEN: server.token() };
    const words = [MAIN, 'port-forward', id, `${ours}:${target}`];
    children.push(spawn(process.execPath, words, { env, cwd: join(folder), stdio: 'ignore' }));
    const socat = hasSocat() ? other : undefined;
    if (socat)
      children.push(spawn('socat', ['-b65536', `TCP-LISTEN:${socat},fork,reuseaddr`, `TCP:127.0.0.1:${target}`]));
    for (const port of [ours, ...(socat ? [socat] : [])])
      await until('it forwards', () =>
        exchange(port, 'down', 1).then(
          (ms) => ms > 0,
          () => false,
        ),
      );
    await compare({ ours, socat }, report);
  } finally {
    for (const child of children) child.kill();
    await server.stop();
    clearDataDir(server.dataDir);
  }
}

export const bench: Bench = {
  order: 45,
  name: 'port-forward',
  measures: ['port-forward-up', 'port-forward-down', 'port-forward-up-share', 'port-forward-down-share'],
  limitMs: 240_000,
  run: (report) => withFolder((folder) => measure(folder, report)),
};
