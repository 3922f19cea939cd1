// Figures, printed and never asserted: the machine may be busy. MUSTER_FIGURES names how many pools of ten pods are made.
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import { openCutNetwork } from '../system/harness/cut-network.ts';
import { startServer } from '../system/harness/server.ts';
import { openWorld } from '../system/harness/world.ts';
import type { ControlPlane } from './parts/control-plane.ts';
import { type AgentPoolDraft, openKubeScene, smallPool } from './parts/kube-scene.ts';
import { kubernetesPrograms } from './parts/kubernetes.ts';
import { playedNode } from './parts/kwok.ts';
import { needed } from './parts/part.ts';
import { followPods } from './parts/pod-stream.ts';
import { lastWriteAt, listsSince, untilIdle, untilQuiet, writesOf } from './parts/quiet.ts';

const ROUNDS = 25;
const POOLS = Number(process.env.MUSTER_FIGURES ?? 200);
const PODS_A_POOL = 10;
const POOLS_A_CALL = 50;
const PODS_A_PAGE = 25;
const RELISTS = 5;
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const quantile = (values: readonly number[], share: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? 0);

function deployment(name: string): object {
  const { template } = smallPool(name).spec;
  const selector = { matchLabels: { pool: name } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: { replicas: 1, selector, template },
  };
}

test('from kubectl apply to the first pod, beside a Deployment of the same template', async (context) => {
  const programs = needed(context, await kubernetesPrograms());
  const world = openWorld(context);
  const { cluster } = await openKubeScene(world, programs, { namespaces: ['default'], isWithoutAgents: true });
  const stream = followPods(world, cluster, programs);
  const tookMs: Record<'pool' | 'deployment', number[]> = { pool: [], deployment: [] };

  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of ['pool', 'deployment'] as const) {
      const name = `${kind}-${round}`;
      const sinceMs = systemClock.monotonic();
      await cluster.apply(kind === 'pool' ? smallPool(name) : deployment(name));
      const seenMs = await until(`a pod of ${name}`, () => stream.firstSeenMs.get(name));
      tookMs[kind].push(seenMs - sinceMs);
    }
  }

  for (const [kind, values] of Object.entries(tookMs)) {
    const [p50, p99] = [quantile(values, 0.5), quantile(values, 0.99)];
    say(`kubectl apply to first pod, ${kind}: p50 ${p50} ms, p99 ${p99} ms (${values.length} rounds)`);
  }
  expect(tookMs.pool).toHaveLength(ROUNDS);
});

/** As the API server counts them; its watches would drop a reader here. */
async function countPods(cluster: ControlPlane): Promise<number> {
  const list = await cluster.kubectl('get', '--raw', '/api/v1/namespaces/default/pods?limit=1');
  const { items, metadata } = JSON.parse(list) as { items: object[]; metadata: { remainingItemCount?: number } };
  return items.length + (metadata.remainingItemCount ?? 0);
}

/** Its pods have no agents, and must not count as failed for that. */
const lasting = (draft: AgentPoolDraft): object => ({ ...draft, spec: { ...draft.spec, bootTimeoutSeconds: 86_400 } });

interface Noted {
  readonly at: number;
  readonly stallMs: number;
  /** The same in processor time of the thread: the machine may be busy. */
  readonly stallCpuMs: number;
  /** On the wall, of those that stop the main thread. */
  readonly longestCollectionMs: number;
  readonly cpuMs: number;
  /** The main thread was in the garbage collector, on the wall. */
  readonly minorMs: number;
  readonly majorMs: number;
  readonly rss: number;
}

/** What the next minute of notes shows. */
async function aMinute(noted: () => readonly Noted[]): Promise<{ cpuMs: number; garbageMs: number; rss: number }> {
  const before = await until('a note', () => noted().at(-1));
  const after = await until('a minute of notes', () => {
    const last = noted().at(-1);
    return last && last.at - before.at >= 60_000 && last;
  });
  const garbageMs = after.majorMs + after.minorMs - before.majorMs - before.minorMs;
  return { cpuMs: (after.cpuMs - before.cpuMs) * (60_000 / (after.at - before.at)), garbageMs, rss: after.rss };
}

test(`${POOLS} pools with ${PODS_A_POOL} pods each: at rest, at a cold start, and while all is listed anew`, async (context) => {
  const programs = needed(context, await kubernetesPrograms());
  const world = openWorld(context);
  const preload = join(import.meta.dirname, 'parts/loop-delay.mjs');
  const env = { NODE_OPTIONS: `--import=${preload}`, LOOP_DELAY_FILE: world.path('delays') };
  const load = (): string => `load ${(loadavg()[0] ?? 0).toFixed(1)}`;
  const longest = (since: number): string => {
    const fresh = noted().filter(({ at }) => at > since);
    const most = (of: (one: Noted) => number): number => Math.round(Math.max(...fresh.map(of)));
    const garbage = `longest collection of garbage ${most((one) => one.longestCollectionMs)} ms`;
    return `longest stall ${most((one) => one.stallMs)} ms, of its own ${most((one) => one.stallCpuMs)} ms, ${garbage}`;
  };
  const port = await freePort();
  const network = await openCutNetwork(() => port);
  context.onTestFinished(network.close);
  const scene = await openKubeScene(world, programs, {
    namespaces: ['default'],
    isWithoutAgents: true,
    controlPlane: { port },
    wayPort: network.port,
    env,
  });
  const { cluster } = scene;
  const noted = (): Noted[] => world.lines('delays').map((line) => JSON.parse(line) as Noted);
  const room = { cpu: '10000', memory: '100000Gi', pods: '10000' };
  await cluster.apply(playedNode('wide', { allocatable: room }));

  const sinceMs = systemClock.monotonic();
  for (let first = 0; first < POOLS; first += POOLS_A_CALL) {
    const names = Array.from({ length: Math.min(POOLS_A_CALL, POOLS - first) }, (_, at) => `pool-${first + at}`);
    const sizes = { minIdle: PODS_A_POOL, maxIdle: PODS_A_POOL, maxReplicas: PODS_A_POOL };
    await cluster.apply(...names.map((name) => lasting(smallPool(name, 'default', sizes))));
  }
  for (let part = 1; part <= 10; part++)
    await until(
      `${part} tenths of all pods`,
      async () => (await countPods(cluster)) >= (POOLS * PODS_A_POOL * part) / 10,
    );
  const madeMs = systemClock.monotonic() - sinceMs;
  say(`${await countPods(cluster)} pods of ${POOLS} pools made in ${Math.round(madeMs / 1000)} s, ${load()}`);

  await untilQuiet(scene, 4);
  // Once all is still, V8 collects in full what the work before has left, and gives the memory back: in the first minute.
  const minutes = [await aMinute(noted), await aMinute(noted)];
  const most = Math.max(...noted().map(({ rss }) => rss));
  for (const [at, { cpuMs, garbageMs, rss }] of minutes.entries())
    say(
      `minute ${at + 1} of rest: ${(cpuMs / 1000).toFixed(2)} core-seconds, garbage collected for ${Math.round(garbageMs)} ms, ` +
        `${Math.round(rss / 2 ** 20)} MB (most so far ${Math.round(most / 2 ** 20)} MB), ${load()}`,
    );

  await scene.server.kill();
  const writes = writesOf(scene).length;
  const restart = Date.now();
  const server = await startServer(world, scene.server, { ...env, LOOP_DELAY: '1' }).ready();
  const read = await until('the pools are read', () =>
    server.logged('source synced').find(({ documents }) => documents === POOLS),
  );
  const listed = await until('the pods are listed', () =>
    server.logged('call ended').find(({ call, error }) => call === 'list' && error === undefined),
  );
  await untilQuiet(scene, 4);
  const written = writesOf(scene).length - writes;
  const ends = [Number(read.time), Number(listed.time), ...(written > 0 ? [lastWriteAt(scene)] : [])];
  const cpuMs = noted().at(-1)?.cpuMs ?? 0;
  say(
    `cold start: settled after ${Math.max(...ends) - restart} ms with ${written} writes, ` +
      `${Math.round(cpuMs)} ms of processor time in all, ${longest(restart)}, ${load()}`,
  );

  // V8 collects in full what the start has left within the first minute: that is no part of a relist.
  await aMinute(noted);
  for (let time = 1; time <= RELISTS; time++) {
    network.cut();
    // Its successor knows nothing of before the last write, which the server has not seen yet: no watch can go on.
    await cluster.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `last-${time}`, namespace: 'default' },
    });
    await cluster.apiServer.stop('SIGKILL');
    await cluster.apiServer.start();
    // While all that watch it list anew, they fill the cores: the server would only wait for its turn.
    await untilIdle(cluster.daemons);
    const away = Date.now();
    network.restore();
    await until('all pods are listed anew', () => listsSince(scene, away) >= (POOLS * PODS_A_POOL) / PODS_A_PAGE);
    await untilQuiet(scene, 2);
    say(`all listed anew, ${time} of ${RELISTS}: ${longest(away)}, ${load()}`);
  }
  expect(await countPods(cluster)).toBe(POOLS * PODS_A_POOL);
  expect(writesOf(scene).filter((line) => line.startsWith('delete'))).toEqual([]);
}, 3_600_000);
