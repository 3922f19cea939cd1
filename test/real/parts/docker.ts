// A real Docker engine from Debian's packages: unpacked, never installed, with a bridge and files of its own.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import { issueClient, issueServerIdentity, newAuthority } from '../../../src/access/tls.ts';
import type { World } from '../../system/harness/world.ts';
import { startDaemon } from './daemon.ts';
import type { Part } from './part.ts';
import { complaintOf, type Ran, run, runWell } from './run.ts';

const PACKAGES = ['docker.io', 'containerd', 'runc', 'tini', 'busybox-static', 'libdevmapper1.02.1'];
const env = process.env as Record<string, string>;

export interface DockerParts {
  /** Where the packages are unpacked: `usr/bin`, `usr/sbin`. */
  readonly folder: string;
  readonly busybox: string;
}

async function lackOf(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'Linux on x64';
  for (const [program, ...words] of [
    ['unshare', '--net', '--mount', '--pid', '--fork', 'true'],
    ['ip', '-V'],
  ] as const) {
    const ran = await run(program, words, { env });
    if (ran.code !== 0) return `${program} with the rights of root (${complaintOf(ran)})`;
  }
  return undefined;
}

export async function dockerParts(): Promise<Part<DockerParts>> {
  const lack = await lackOf();
  if (lack !== undefined) return { missing: lack };
  const folder = join(homedir(), '.cache', 'muster', 'docker-debian');
  const busybox = join(folder, 'bin/busybox');
  if (existsSync(busybox)) return { folder, busybox };
  const draft = `${folder}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const fetched = await run('apt-get', ['download', ...PACKAGES], { env, cwd: draft });
  if (fetched.code !== 0) return { missing: `${PACKAGES.join(', ')} from Debian (${complaintOf(fetched)})` };
  for (const file of readdirSync(draft).filter((name) => name.endsWith('.deb'))) {
    const unpacked = await run('dpkg-deb', ['-x', join(draft, file), draft], { env });
    if (unpacked.code !== 0) return { missing: `a package that unpacks (${complaintOf(unpacked)})` };
    rmSync(join(draft, file));
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
  return { folder, busybox };
}

export interface DockerEngine {
  readonly address: string;
  /** The machine's side of the network of its containers. */
  readonly gateway: string;
  /** What a program needs to speak to it by the docker command. */
  readonly env: Readonly<Record<string, string>>;
  /** What the docker command prints; throws where it fails. */
  docker(...words: readonly string[]): Promise<string>;
  tryDocker(...words: readonly string[]): Promise<Ran>;
  /** The engine ends, and its containers with it. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Ends the engine, and removes what it leaves behind. */
  close(): Promise<void>;
}

// Another engine of this machine has other numbers.
const gatewayOf = (number: number): string => `10.${200 + (number % 50)}.${number % 250}.1`;

const means = { clock: systemClock, random: systemRandom };

export interface SecurePort {
  readonly port: number;
  /** Holds what the docker command keeps in `DOCKER_CERT_PATH`. */
  readonly certPath: string;
  /** The flags of an engine that listens there too. */
  readonly flags: readonly string[];
}

/** A port for TLS, with certificates for both sides. */
export async function placeSecurePort(world: World): Promise<SecurePort> {
  const port = await freePort();
  const authority = newAuthority(means);
  const server = issueServerIdentity(authority, ['127.0.0.1'], means);
  const client = issueClient(authority, 'muster', means);
  world.write('tls/server.pem', server.certificate);
  world.write('tls/server-key.pem', server.key);
  for (const [name, text] of [
    ['ca', authority.certificate],
    ['cert', client.certificate],
    ['key', client.key],
  ] as const)
    world.write(`tls/${name}.pem`, text);
  const at = (name: string): string => world.path(`tls/${name}.pem`);
  const trust = ['--tlsverify', '--tlscacert', at('ca'), '--tlscert', at('server'), '--tlskey', at('server-key')];
  return { port, certPath: world.path('tls'), flags: [...trust, '-H', `tcp://127.0.0.1:${port}`] };
}

/** Starts an engine that touches nothing of this machine but a bridge, which goes with it. */
export async function openDocker(
  world: World,
  { folder }: DockerParts,
  flags: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Promise<DockerEngine> {
  // The path of a socket has some 100 letters at most.
  const place = mkdtempSync(join(tmpdir(), 'mdk-'));
  const bridge = `mdk${process.pid}`;
  const gateway = gatewayOf(process.pid);
  const address = `unix://${join(place, 'docker.sock')}`;
  const path = [join(folder, 'usr/bin'), join(folder, 'usr/sbin'), more.PATH, process.env.PATH]
    .filter(Boolean)
    .join(':');
  const own = {
    ...more,
    PATH: path,
    HOME: place,
    DOCKER_HOST: address,
    LD_LIBRARY_PATH: [join(folder, 'usr/lib/x86_64-linux-gnu'), more.LD_LIBRARY_PATH].filter(Boolean).join(':'),
  };
  await runWell('ip', ['link', 'add', bridge, 'type', 'bridge'], { env });
  await runWell('ip', ['addr', 'add', `${gateway}/24`, 'dev', bridge], { env });
  await runWell('ip', ['link', 'set', bridge, 'up'], { env });
  const words = [
    ...['--data-root', join(place, 'data'), '--exec-root', join(place, 'exec'), '-p', join(place, 'pid')],
    ...['-H', address, '-b', bridge, '--iptables=false', '--ip-forward=false', '--shutdown-timeout', '5'],
    ...flags,
  ];
  const tryDocker = (...asked: readonly string[]): Promise<Ran> => run('docker', asked, { env: { ...env, ...own } });
  const launch = () => startDaemon(world, 'dockerd', ['dockerd', ...words], { env: own });
  let daemon = launch();
  const isUp = () => until('the engine answers', async () => (await tryDocker('version')).code === 0);
  await isUp();
  return {
    address,
    gateway,
    env: own,
    docker: (...asked) => runWell('docker', asked, { env: { ...env, ...own } }),
    tryDocker,
    stop: () => daemon.stop(),
    async start() {
      daemon = launch();
      await isUp();
    },
    async close() {
      const { out } = await tryDocker('ps', '-aq');
      const left = out.split('\n').filter(Boolean);
      if (left.length > 0) await tryDocker('rm', '-f', ...left);
      await daemon.stop();
      await run('umount', [join(place, 'exec/netns/default')], { env });
      await run('ip', ['link', 'del', bridge], { env });
      rmSync(place, { recursive: true, force: true });
    },
  };
}

/** An image with a shell and nothing else, for tests that need no agent. */
export const TINY = 'muster/tiny';

export async function importTiny(world: World, engine: DockerEngine, { busybox }: DockerParts): Promise<void> {
  const root = world.path('tiny-root');
  for (const place of ['bin', 'etc', 'run', 'tmp']) mkdirSync(join(root, place), { recursive: true });
  copyFileSync(busybox, join(root, 'bin/busybox'));
  for (const applet of ['sh', 'sleep', 'echo', 'cat', 'mkdir', 'hostname', 'httpd'])
    symlinkSync('busybox', join(root, 'bin', applet));
  const archive = world.path('tiny.tar');
  await runWell('tar', ['-C', root, '--owner=0', '--group=0', '-cf', archive, '.'], { env });
  await engine.docker('import', '-c', 'ENTRYPOINT []', '-c', 'CMD ["sleep", "1000"]', archive, TINY);
}
