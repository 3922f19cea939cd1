// Runs the commands of a guide as its reader would: block by block, in one folder, against a real server.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import type { Fence } from '../house/markdown.ts';
import { PROGRAM, placeAgent } from '../system/harness/start-place.ts';
import type { World } from '../system/harness/world.ts';

type Tree = Record<string, unknown>;

/** What a guide takes for granted. */
export interface Prepared {
  /** The file of the server that already runs; without one the guide starts its own. */
  readonly server?: Tree;
  /** Files in the reader's folder, by name; those of `bin/` are programs. */
  readonly files?: Readonly<Record<string, string>>;
  /** Commands that bring about what the guide supposes, after the server has started. */
  readonly before?: string;
  /** A simulated cloud, started before the server; the server and all commands get its variables. */
  readonly cloud?: string;
}

// The ports that guides write; each world has its own in their place.
const WRITTEN_PORTS = ['8081', '50051', '4566', '4567', '4568', '4569', '8001', '6443', '9000'];

const MUSTER = `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`;

/** Agents of `process` pools carry the mark of their world, so that they end with it. */
function withMark(world: World, pool: Tree): Tree {
  const { auto_scaler: scaler } = pool as { auto_scaler?: { backend?: { process?: Tree } } };
  const own = scaler?.backend?.process;
  if (own) own.env = { ...(own.env as Tree | undefined), ...world.mark };
  return pool;
}

interface Terminal {
  readonly child: ChildProcess;
  readonly isServer: boolean;
  printed(): string;
}

export async function openGuide(world: World) {
  const ports = new Map<string, number>();
  for (const written of WRITTEN_PORTS) ports.set(written, await freePort());
  const peer = await freePort();
  const terminals: Terminal[] = [];
  const variables = world.path('.variables');
  writeFileSync(variables, '', { mode: 0o600 });
  world.write('bin/muster', MUSTER, 0o755);
  // The reader's folder is not their home, which `--sync` refuses.
  const home = mkdtempSync(join(tmpdir(), 'muster-home-'));

  /** In a clone, `npx muster` is the command that is installed elsewhere. */
  const onPorts = (text: string): string =>
    text
      .replaceAll('npx muster', 'muster')
      .replace(new RegExp(`\\b(${WRITTEN_PORTS.join('|')})\\b`, 'g'), (port) => String(ports.get(port)));

  /** A file of the server gets ports and a data directory of this world, as far as the guide names none. */
  function placed(text: string): string {
    const file = parse(onPorts(text)) as Tree;
    const isServerFile = ['agent_pools', 'provisioners', 'runtimes', 'server'].some((key) => key in file);
    if (!isServerFile) return onPorts(text);
    const server = {
      http_address: `127.0.0.1:${ports.get('8081')}`,
      grpc_address: `127.0.0.1:${ports.get('50051')}`,
      peer_address: `127.0.0.1:${peer}`,
      ...(file.server as Tree | undefined),
    };
    const pools = (file.agent_pools as Tree[] | undefined)?.map((pool) => withMark(world, pool));
    return stringify({ data_dir: world.dataDir, ...file, server, ...(pools && { agent_pools: pools }) });
  }

  /** Names that begin with `~` are below the home of the reader; scripts may be executed. */
  function place(name: string, text: string): void {
    const path = name.startsWith('~') ? join(home, name.slice(1)) : world.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    chmodSync(path, text.startsWith('#!') ? 0o755 : 0o600);
  }

  const env = { ...world.env, HOME: home, PATH: `${world.path('bin')}:${world.env.PATH}` };
  /** `# exits with 2` is what the guide promises. */
  const withExitCodes = (text: string): string =>
    text.replace(/^(.*\S) +# exits with (\d+).*$/gm, 'code=0; $1 || code=$?; [ $code = $2 ]');
  const scriptOf = (text: string): string => {
    const commands = withExitCodes(onPorts(text));
    const after = ['{ set +x; } 2>/dev/null', 'export -p > .variables'];
    return ['set -ea -o pipefail', '. ./.variables', 'set -x', commands, ...after].join('\n');
  };

  function start(
    program: string,
    words: readonly string[],
    input = '',
  ): Terminal & { readonly ended: Promise<number> } {
    const child = spawn(program, words, { cwd: world.folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
    child.stdin.on('error', () => {}).end(input);
    const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)));
    return { child, isServer: false, printed: () => printed, ended };
  }

  async function run(text: string): Promise<void> {
    const { ended, printed } = start('bash', ['-c', scriptOf(text)]);
    if ((await ended) !== 0) throw new Error(`The block ended with ${await ended}:\n${text}\n${printed()}`);
  }

  /** At a terminal, whose reader types `exit`. */
  async function runAtTerminal(text: string): Promise<void> {
    for (const command of onPorts(text).trim().split('\n')) {
      const quoted = command.replaceAll("'", `'\\''`);
      const { ended, printed } = start(
        'script',
        ['-qec', `bash -c '. ./.variables; ${quoted}'`, '/dev/null'],
        'exit\n',
      );
      if ((await ended) !== 0) throw new Error(`The terminal ended with ${await ended}:\n${command}\n${printed()}`);
    }
  }

  async function stopServers(): Promise<void> {
    for (const { child } of terminals.filter(({ isServer }) => isServer)) {
      child.kill('SIGINT');
      await until('the server has stopped', () => child.exitCode !== null || child.signalCode !== null);
    }
  }

  /** What it prints once it runs. */
  function signOf(command: string): RegExp {
    if (command.startsWith('muster server')) return /serving/;
    return command.startsWith('muster sim') ? /Ctrl-C ends it/ : /./;
  }

  /** In a terminal of its own, where it stays until the guide ends or starts another server. */
  async function leaveRunning(text: string): Promise<void> {
    const command = text.replace(/ +#.*/, '').trim();
    if (command.includes('\n')) throw new Error(`A terminal takes one command:\n${text}`);
    const isServer = command.startsWith('muster server');
    if (isServer) await stopServers();
    const { ended, ...terminal } = start('bash', ['-c', `. ./.variables; exec ${onPorts(command)}`]);
    terminals.push({ ...terminal, isServer });
    const runs = (): boolean => signOf(command).test(terminal.printed());
    await until(`"${command}" runs`, () => terminal.child.exitCode !== null || runs());
    if (!runs()) throw new Error(`It ended with ${await ended}: ${command}\n${terminal.printed()}`);
    if (/ (-w|-f|--watch|--follow)\b/.test(command)) terminal.child.kill('SIGINT');
    if (command.startsWith('muster sim')) await take(terminal.printed());
  }

  /** The variables that a simulated cloud prints, as its reader copies them. */
  async function take(printed: string): Promise<void> {
    await run(
      printed
        .split('\n')
        .filter((line) => line.startsWith('  export '))
        .join('\n'),
    );
  }

  return {
    placed,
    async prepare({ server, files = {}, before, cloud }: Prepared): Promise<void> {
      placeAgent(world.dataDir);
      for (const [name, text] of Object.entries(files)) place(name, name === 'muster.yaml' ? placed(text) : text);
      if (cloud) await leaveRunning(`muster sim cloud ${cloud} --port 4566`);
      if (server) {
        world.write('prepared.yaml', placed(stringify(server)));
        await leaveRunning('muster server --config prepared.yaml');
      }
      if (before) await run(before);
    },
    async follow({ marks, text }: Fence): Promise<void> {
      const file = marks.find((mark) => mark.startsWith('file='))?.slice('file='.length);
      if (file) world.write(file, file.endsWith('.yaml') ? placed(text) : onPorts(text));
      else if (marks.includes('test')) await run(text);
      else if (marks.includes('tty')) await runAtTerminal(text);
      else if (marks.includes('terminal')) await leaveRunning(text);
    },
    async close(): Promise<void> {
      await stopServers();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
