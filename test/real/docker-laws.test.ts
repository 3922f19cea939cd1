// The laws of a backend on a real engine: what the suite asks of the fake one holds there too.
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import { testBackend } from '../../src/conformance/backend.ts';
import { aLaunchWith, type BackendWorld, contextWithLog, lawName, OURS } from '../../src/conformance/backend-world.ts';
import { fetchWith } from '../../src/edge/fetch-with.ts';
import { brokenConnection, untilAborted } from '../../src/fakes/failure-rules.ts';
import provider from '../../src/providers/docker/index.ts';
import { openWorld, type World } from '../system/harness/world.ts';
import {
  type DockerEngine,
  dockerParts,
  importTiny,
  openDocker,
  placeSecurePort,
  type SecurePort,
  TINY,
} from './parts/docker.ts';
import { isMissing, needed } from './parts/part.ts';

const { docker } = provider.backends;

let world: World | undefined;
let engine: DockerEngine | undefined;
let secure: SecurePort | undefined;
const parts = await dockerParts();

beforeAll(async () => {
  if (isMissing(parts)) return;
  world = openWorld();
  secure = await placeSecurePort(world);
  engine = await openDocker(world, parts, secure.flags);
  await importTiny(world, engine, parts);
});
afterAll(async () => {
  await engine?.close();
  await world?.close();
});

const PORTS = [8_000, 8_001];
const serving = (port: number): string => `mkdir /tmp/${port}
echo "$(hostname) ${port}" > /tmp/${port}/index.html
httpd -p ${port} -h /tmp/${port}`;

/** Containers with ports of their own, whose servers say who and where they are. */
const CONFIG = {
  image: TINY,
  stopTimeout: '1s',
  agentConfig: { broker: { address: 'https://muster.example:50051' } },
  // Free ones: another program may have those of the suite.
  ports: PORTS.map((container) => ({ container, host: 0 })),
  command: ['sh', '-c', `${PORTS.map(serving).join('\n')}\nexec sleep 1000`],
};

type FailureRule = 'lost reply' | 'half a listing' | 'hang';

async function openEngineWorld(): Promise<BackendWorld> {
  const { address, docker: command } = engine as DockerEngine;
  const lines: string[] = [];
  let failureRule: FailureRule | undefined;
  const failureFor = (path: string): FailureRule | undefined => {
    const isIts =
      failureRule === 'hang' ||
      (failureRule === 'lost reply' && path.endsWith('/containers/create')) ||
      (failureRule === 'half a listing' && path.endsWith('/containers/json'));
    return isIts ? failureRule : undefined;
  };
  const reach = fetchWith({ socketPath: address.replace('unix://', '') });
  const fetchFrom: typeof fetch = async (input, init) => {
    const struck = failureFor(new URL(String(input)).pathname);
    if (struck === 'hang') return untilAborted(init?.signal ?? new AbortController().signal);
    const answer = await reach(input, init);
    if (struck === undefined) return answer;
    failureRule = undefined;
    const text = await answer.text();
    if (struck === 'lost reply') throw brokenConnection();
    return new Response(text.slice(0, text.length / 2), answer);
  };
  const contextOf = (cluster: string) => {
    const means = { clock: systemClock, random: systemRandom, fetch, dataDir: '/nowhere', agentCommand: [] };
    return contextWithLog({ cluster, ...means, fetchWith: () => fetchFrom }, lines);
  };
  const open = (cluster: string) => docker.open(docker.config.parse({ ...CONFIG, host: address }), contextOf(cluster));
  const next = (what: FailureRule) => () => {
    failureRule = what;
  };
  const named = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await command('ps', ...words, '--format', '{{.Names}}')).split('\n').filter(Boolean);
  return {
    open,
    openWatching: open,
    existing: () => named(),
    during: (call) => call,
    // Its events come within moments.
    settle: () => systemClock.sleep(500),
    logged: () => lines.join('\n'),
    loseReply: next('lost reply'),
    breakListing: next('half a listing'),
    hang: next('hang'),
    async reached({ host, port }) {
      const said = await until('it serves', () =>
        fetch(`http://${host}:${port}`).then(
          (answer) => answer.text(),
          () => undefined,
        ),
      );
      const [name = '', inner] = said.trim().split(' ');
      return { name, port: Number(inner) };
    },
    async close() {
      for (const name of await named('-a')) await command('rm', '-f', name);
    },
  };
}

test('an engine behind TLS is reached with the certificates of cert_path, and not without', async (context) => {
  needed(context, parts);
  const { port, certPath } = secure as SecurePort;
  const host = `tcp://127.0.0.1:${port}`;
  const means = { clock: systemClock, random: systemRandom, fetch, fetchWith, dataDir: '/nowhere', agentCommand: [] };
  const open = (config: object) =>
    docker.open(docker.config.parse({ image: TINY, host, ...config }), contextWithLog({ cluster: 'c', ...means }, []));
  const backend = await open({ certPath });

  expect(await backend.list(new AbortController().signal)).toEqual([]);
  await expect(open({})).rejects.toMatchObject({ remedy: 'That port speaks TLS: set cert_path.' });
  await expect(open({ host: host.replace('tcp', 'https') })).rejects.toMatchObject({
    kind: 'unavailable',
    remedy: 'Check cert_path, and that host names the port with TLS.',
  });
});

test('a port and a name that others have are refused with who has them, and nothing is left', async (context) => {
  needed(context, parts);
  const { address, docker: command } = engine as DockerEngine;
  const port = await freePort();
  const means = { clock: systemClock, random: systemRandom, fetch, fetchWith, dataDir: '/nowhere', agentCommand: [] };
  const parsed = docker.config.parse({ ...CONFIG, ports: [], host: address, containerName: 'commandlab-daemon' });
  const backend = await docker.open(parsed, contextWithLog({ cluster: OURS, ...means }, []));
  const launch = aLaunchWith({ port }, lawName('held'));
  const refused = async () => (await backend.create(launch, new AbortController().signal))[0]?.fault?.message;

  await command('run', '-d', '--name', 'web', '-p', `127.0.0.1:${port}:80`, TINY);
  const byContainer = await refused();
  await command('rm', '-f', 'web');
  const other = createServer().listen(port, '127.0.0.1');
  const byProgram = await refused();
  const left = await command('ps', '-a', '--format', '{{.Names}}');
  await new Promise((resolve) => other.close(resolve));
  await command('run', '-d', '--name', 'commandlab-daemon', TINY);
  const byName = await refused();
  await command('rm', '-f', 'commandlab-daemon');
  const made = await refused();
  const shown = await command('ps', '-a', '--format', '{{.Names}} {{.Ports}}');
  await command('rm', '-f', 'commandlab-daemon');

  const inUse = `Port ${port} of the machine of the engine is in use: `;
  expect(byContainer).toBe(`${inUse}the container web (${TINY}) holds it.`);
  expect(byProgram).toBe(`${inUse}another program holds it.`);
  expect(left).toBe('');
  expect(byName).toMatch(
    /^The name commandlab-daemon is in use by the container [0-9a-f]{12} from the image muster.tiny\.$/,
  );
  expect(made).toBeUndefined();
  expect(shown).toBe(`commandlab-daemon 127.0.0.1:${port}->${port}/tcp\n`);
});

if (isMissing(parts)) {
  test('docker keeps the laws of a backend on a real engine', (context) => context.skip(`needs ${parts.missing}`));
} else {
  testBackend('docker, on a real engine,', {
    kind: docker,
    openWorld: openEngineWorld,
    hasEndpoints: true,
    excuses: {
      'typed faults': 'the failures of a real engine are in docker.test.ts',
      'late failure': 'a container that dies is in docker.test.ts',
    },
  });
}
