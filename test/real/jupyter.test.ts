// The recipe of docs/guides/sessions.md: `muster run`, `port-forward` and `logs` of a notebook on a worker, used from this machine.
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import WebSocket from 'ws';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import { runCli, startCli } from '../system/harness/cli.ts';
import { placeServer, processPool, startServer } from '../system/harness/server.ts';
import { openWorld } from '../system/harness/world.ts';
import { needed } from './parts/part.ts';
import { jupyter } from './parts/python.ts';

const part = await jupyter();

/** Runs Python in a kernel by the WebSocket that a browser uses; answers what it prints. */
function printedBy(address: string, code: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address);
    const header = {
      msg_id: randomUUID(),
      session: randomUUID(),
      username: 'test',
      msg_type: 'execute_request',
      version: '5.3',
    };
    const content = { code, silent: false, store_history: false, user_expressions: {}, allow_stdin: false };
    socket.on('open', () =>
      socket.send(JSON.stringify({ header, parent_header: {}, metadata: {}, content, channel: 'shell' })),
    );
    socket.on('message', (data) => {
      const { msg_type: type, content: said } = JSON.parse(data.toString());
      if (type !== 'stream') return;
      resolve(said.text);
      socket.close();
    });
    socket.on('error', reject);
  });
}

test('a notebook on a worker runs code from this machine, on the files that were sent along', async (context) => {
  const { program } = needed(context, part);
  const world = openWorld(context);
  const limits = { max_agents: 1, min_agents: 1, min_idle_agents: 0, max_idle_agents: 1 };
  const place = await placeServer(world, { agent_pools: [processPool(world, 'local', limits)] });
  await startServer(world, place).ready();
  world.write('project/data.txt', 'from the worker');
  const remote = await freePort();
  // Tests may run as root, which Jupyter refuses without the last word.
  const words = [program('jupyter'), 'lab', '--no-browser', '--ip', '127.0.0.1', '--port', `${remote}`, '--allow-root'];
  await runCli(world, ['run', '-d', '--name', 'notebook', '--sync', world.path('project'), '--', ...words]);
  const token = await until('it prints its address', async () => {
    const { out, err } = await runCli(world, ['logs', 'notebook']);
    return /[?&]token=([0-9a-f]+)/.exec(out + err)?.[1];
  });
  const forward = startCli(world, ['port-forward', 'notebook', `:${remote}`]);
  const local = await until('it listens', () => /127\.0\.0\.1:(\d+) -> /.exec(forward.out())?.[1]);
  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${local}${path}`, { ...init, headers: { authorization: `token ${token}` } });

  const page = await (await ask('/lab')).text();
  const kernel = (await (await ask('/api/kernels', { method: 'POST' })).json()) as { id: string };
  const printed = await printedBy(
    `ws://127.0.0.1:${local}/api/kernels/${kernel.id}/channels?token=${token}`,
    'print(open("data.txt").read(), 6 * 7)',
  );
  forward.signal('SIGINT');
  await forward.ended;

  expect(page).toContain('JupyterLab');
  expect(printed).toBe('from the worker 42\n');
});
