import { createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import type { Session } from '../api/wire/session.ts';
import type { Client } from './client.ts';
import { type Cli, type CliCommand, clientOf } from './command.ts';
import { withExamples } from './example.ts';
import { sessionPath, waitForEnd } from './follow.ts';
import { named } from './option.ts';
import { oneLine } from './table.ts';
import { print, remark } from './terminal.ts';
import { openTunnel } from './tunnel.ts';

interface Forward {
  readonly local: number;
  readonly remote: number;
}

const HIGHEST_PORT = 65_535;
const LONGEST_PROGRAM = 80;

function portOf(text: string, written: string, least: number): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= least && port <= HIGHEST_PORT) return port;
  throw new Fault('invalid', `"${written}" is not a port, nor LOCAL:REMOTE.`, {
    remedy: 'Write for example 8888, or 9000:8888, or :8888 for any free local port.',
  });
}

/** `8888`, `9000:8888`, or `:8888` for any free port of this machine. */
export function forwardOf(written: string): Forward {
  const [first = '', second, ...more] = written.split(':');
  if (more.length > 0) return { local: portOf('', written, 1), remote: 0 };
  if (second === undefined) return { local: portOf(first, written, 1), remote: portOf(first, written, 1) };
  return { local: portOf(first || '0', written, 0), remote: portOf(second, written, 1) };
}

function inUse(cli: Cli, { local, remote }: Forward, cause: unknown): Fault {
  const owner = cli.listenerOf?.(local);
  const by = owner ? ` by process ${owner.pid} (${oneLine(owner.program).slice(0, LONGEST_PROGRAM)})` : '';
  return new Fault('conflict', `Port ${local} of this machine is in use${by}.`, {
    cause,
    remedy: `Choose another local port, for example ${local < HIGHEST_PORT ? local + 1 : local - 1}:${remote}, or :${remote} for any free one.`,
  });
}

async function listen(cli: Cli, { local, remote }: Forward, taken: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, taken);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') return reject(inUse(cli, { local, remote }, error));
      reject(new Fault('denied', `Cannot listen on port ${local}: ${error.message}.`, { remedy: `Use :${remote}.` }));
    });
    server.listen(local, '127.0.0.1', resolve);
  });
  return server;
}

/** Says each reason once until something else happens: a browser tries many times. */
function openComplaints(cli: Cli) {
  let last = '';
  return {
    failed(fault: Fault): void {
      const text = `${fault.message} ${fault.remedy}`;
      if (text !== last) remark(cli.terminal, text);
      last = text;
    },
    worked(): void {
      last = '';
    },
  };
}

async function carry(
  cli: Cli,
  client: Client,
  { path, socket, signal }: { path: string; socket: Socket; signal: AbortSignal },
) {
  const far = await openTunnel(client, path, { signal, clock: cli.terminal.clock });
  // Before the pipelines close it in order: bytes that were cut off must not look complete.
  far.once('error', () => socket.resetAndDestroy());
  try {
    await Promise.all([pipeline(socket, far, { signal }), pipeline(far, socket, { signal })]);
  } finally {
    far.destroy();
  }
}

async function ofSession(cli: Cli, client: Client, written: string, ports: readonly string[]): Promise<void> {
  const { id, end } = await client.call<Session>(sessionPath(written));
  if (end) throw new Fault('conflict', `Session ${id} has ended.`, { remedy: 'Start it again with `muster run`.' });
  const over = async (): Promise<string> => {
    await waitForEnd(cli, client, id);
    return `session ${id} has ended`;
  };
  await forwardPorts(cli, client, { ports, path: sessionPath(id), written, over });
}

export interface ForwardWish {
  /** As they were written. */
  readonly ports: readonly string[];
  /** Of the API: what the ports are of. */
  readonly path: string;
  /** What that is called. */
  readonly written: string;
  /** Resolves with what to say when nothing is left to forward to. */
  over(): Promise<string>;
}

/** Forwards ports of this machine until there is nothing to forward to any more, or Ctrl-C. */
export async function forwardPorts(cli: Cli, client: Client, wish: ForwardWish): Promise<void> {
  const forwards = wish.ports.map(forwardOf);
  const over = new AbortController();
  const complaints = openComplaints(cli);
  const servers: Server[] = [];
  const stop = (): void => {
    over.abort();
    for (const server of servers) server.close();
  };
  cli.signal.addEventListener('abort', stop, { once: true });

  const serve = (remote: number) => (socket: Socket) => {
    socket.on('error', () => {});
    const path = `${wish.path}/ports/${remote}`;
    carry(cli, client, { path, socket, signal: over.signal }).then(complaints.worked, (thrown) => {
      // A connection that either end has reset is no failure of ours.
      if (thrown instanceof Fault && !over.signal.aborted) complaints.failed(thrown);
      socket.resetAndDestroy();
    });
  };

  try {
    for (const forward of forwards) {
      const server = await listen(cli, forward, serve(forward.remote));
      servers.push(server);
      const { port } = server.address() as { port: number };
      print(cli.terminal, `127.0.0.1:${port} -> ${wish.written}:${forward.remote}`);
    }
    const said = await wish.over();
    if (!cli.signal.aborted) remark(cli.terminal, said);
  } finally {
    stop();
  }
}

function portForwardCommand(cli: Cli): Command {
  const command = new Command('port-forward')
    .description('forward ports of this machine to a session, until it ends or Ctrl-C')
    .argument(
      '<session>',
      'id of the session, its first characters, its name, NAME/NUMBER, or @last',
      named('<session>'),
    )
    .argument('<port...>', 'PORT, LOCAL:REMOTE, or :REMOTE for any free local port')
    .action((session: string, ports: string[], _options, command: Command) =>
      ofSession(cli, clientOf(cli, command), session, ports),
    );
  return withExamples(command, [
    ['muster port-forward notebook 8888', 'then open http://127.0.0.1:8888'],
    ['muster port-forward @last 9000:80 :6006', 'several at once'],
  ]);
}

export const commands: readonly CliCommand[] = [{ name: 'port-forward', order: 28, make: portForwardCommand }];
