// The laws of a backend on a real engine: what the suite asks of the fake one holds there too.
import { afterAll, beforeAll, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { testBackend } from '../../src/conformance/backend.ts';
import { type BackendWorld, contextWithLog } from '../../src/conformance/backend-world.ts';
import { fetchWith } from '../../src/edge/fetch-with.ts';
import { brokenConnection, untilAborted } from '../../src/fakes/mishaps.ts';
import provider from '../../src/providers/docker/index.ts';
import { openWorld, type World } from '../system/harness/world.ts';
import { type DockerEngine, dockerParts, importTiny, openDocker, TINY } from './parts/docker.ts';
import { isMissing } from './parts/part.ts';

const { docker } = provider.backends;

let world: World | undefined;
let engine: DockerEngine | undefined;
const parts = await dockerParts();

beforeAll(async () => {
  if (isMissing(parts)) return;
  world = openWorld();
  engine = await openDocker(world, parts);
  await importTiny(world, engine, parts);
});
afterAll(async () => {
  await engine?.close();
  await world?.close();
});

type Mishap = 'lost reply' | 'half a listing' | 'hang';

async function openEngineWorld(): Promise<BackendWorld> {
  const { address, docker: command } = engine as DockerEngine;
  const lines: string[] = [];
  let mishap: Mishap | undefined;
  const mishapFor = (path: string): Mishap | undefined => {
    const isIts =
      mishap === 'hang' ||
      (mishap === 'lost reply' && path.endsWith('/containers/create')) ||
      (mishap === 'half a listing' && path.endsWith('/containers/json'));
    return isIts ? mishap : undefined;
  };
  const reach = fetchWith({ socketPath: address.replace('unix://', '') });
  const fetchFrom: typeof fetch = async (input, init) => {
    const struck = mishapFor(new URL(String(input)).pathname);
    if (struck === 'hang') return untilAborted(init?.signal ?? new AbortController().signal);
    const answer = await reach(input, init);
    if (struck === undefined) return answer;
    mishap = undefined;
    const text = await answer.text();
    if (struck === 'lost reply') throw brokenConnection();
    return new Response(text.slice(0, text.length / 2), answer);
  };
  const contextOf = (cluster: string) => {
    const means = { clock: systemClock, random: systemRandom, fetch, dataDir: '/nowhere', agentCommand: [] };
    return contextWithLog({ cluster, ...means, fetchWith: () => fetchFrom }, lines);
  };
  const open = (cluster: string) =>
    docker.open(docker.config.parse({ image: TINY, host: address, stopTimeout: '1s' }), contextOf(cluster));
  const next = (what: Mishap) => () => {
    mishap = what;
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
    async close() {
      for (const name of await named('-a')) await command('rm', '-f', name);
    },
  };
}

if (isMissing(parts)) {
  test('docker keeps the laws of a backend on a real engine', (context) => context.skip(`needs ${parts.missing}`));
} else {
  testBackend('docker, on a real engine,', {
    kind: docker,
    openWorld: openEngineWorld,
    excuses: {
      'typed faults': 'the failures of a real engine are in docker.test.ts',
      'late failure': 'a container that dies is in docker.test.ts',
    },
  });
}
