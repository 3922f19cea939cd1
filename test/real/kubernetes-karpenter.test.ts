// Muster and Karpenter on one API server at the same time: pods that wait, then pods that are spread over too many nodes.
// Figures are printed and never compared: the machine may be busy. MUSTER_NODE_PODS says how many pods each of them gets.
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { parse } from 'yaml';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { seededRandom } from '#core/random.ts';
import { until } from '#core/testing/until.ts';
import { openWorld, ROOT } from '../system/harness/world.ts';
import { type FollowedPods, followPodsOfFleets } from './parts/followed-pods.ts';
import { POOL_LABEL } from './parts/joined-nodes.ts';
import { karpenter } from './parts/karpenter.ts';
import { KARPENTER_FLEET, startKarpenter } from './parts/karpenter-scene.ts';
import { kubernetesPrograms } from './parts/kubernetes.ts';
import { gpuPod, type NodesScene, openNodesScene, provisionerOf } from './parts/nodes-scene.ts';
import { needed } from './parts/part.ts';

const PODS = Number(process.env.MUSTER_NODE_PODS ?? 1_000);
const SIZES = [1, 1, 1, 1, 2, 2, 4, 8];
const BOOT_SECONDS = 5;
const AT_ONCE = 50;
const QUIET_MS = 120_000;
const MOST_WAITS = 60;
const PODS_PATH = '/api/v1/namespaces/default/pods';
const POOL = 'h100';

/** What pods of each select; all pods and nodes of both bear the label `fleet`. */
const FLEETS = {
  muster: { [POOL_LABEL]: POOL },
  karpenter: KARPENTER_FLEET,
} as const;
type Fleet = keyof typeof FLEETS;
const BOTH = Object.keys(FLEETS) as Fleet[];

const PROFILES = {
  'the default profile of the scheduler': undefined,
  'the profile of the guide': join(ROOT, 'deploy/kubernetes/examples/nodes/kube-scheduler.yaml'),
};
type Profile = keyof typeof PROFILES;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const quantile = (values: readonly number[], share: number): string =>
  ((values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? 0) / 1_000).toFixed(2);

interface Scene extends NodesScene {
  readonly followed: FollowedPods;
  readonly karpenterPid: number;
}

async function openBoth(context: TestContext, profile: Profile, movesPods: boolean): Promise<Scene> {
  const [programs, peer] = [needed(context, await kubernetesPrograms()), needed(context, await karpenter())];
  const world = openWorld(context);
  const file = PROFILES[profile];
  const scene = await openNodesScene(world, programs, {
    pool: POOL,
    bootMs: BOOT_SECONDS * 1_000,
    controlPlane: file === undefined ? {} : { scheduler: parse(readFileSync(file, 'utf8')) as object },
    onEnd: (end) => context.onTestFinished(end),
  });
  const { pid } = await startKarpenter(world, scene.cluster, peer, { bootSeconds: BOOT_SECONDS, movesPods });
  return { ...scene, karpenterPid: pid, followed: followPodsOfFleets(scene.api, true) };
}

const fleetPod = (fleet: Fleet, name: string, gpus: number, node?: string): object => {
  const pod = gpuPod({ name, gpus, on: FLEETS[fleet], ...(node !== undefined && { node }) }) as {
    readonly metadata: { readonly labels: object };
  };
  return { ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, fleet } } };
};

async function inTurns<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < items.length; first += AT_ONCE)
    await Promise.all(items.slice(first, first + AT_ONCE).map(act));
}

/** Waits until what is read has been the same for a while. */
async function untilQuiet(read: () => string): Promise<void> {
  let [seen, sinceMs] = [read(), systemClock.monotonic()];
  for (const startMs = sinceMs; systemClock.monotonic() - sinceMs < QUIET_MS; ) {
    if (systemClock.monotonic() - startMs > MOST_WAITS * 60_000) throw new Fault('unavailable', `No rest: ${read()}`);
    await systemClock.sleep(1_000);
    if (read() !== seen) [seen, sinceMs] = [read(), systemClock.monotonic()];
  }
}

const megabytes = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024);

/** When the machine of each node was asked for. */
function askedAtMs({ group, followed }: Scene, fleet: Fleet): ReadonlyMap<string, number> {
  if (fleet === 'karpenter') return followed.claimedAtMs;
  return new Map(group.managed.map(({ name, madeAtMs }) => [name, madeAtMs]));
}

/** From the refusal of a pod by the scheduler to the next request for a machine; the last pods may need none. */
function growthsOf(scene: Scene, fleet: Fleet): readonly number[] {
  const asked = [...askedAtMs(scene, fleet).values()].toSorted((a, b) => a - b);
  const own = [...scene.followed.pods.values()].filter((pod) => pod.fleet === fleet);
  return own.flatMap(({ refusedAtMs = Number.POSITIVE_INFINITY }) => {
    const next = asked.find((atMs) => atMs >= refusedAtMs);
    return next === undefined ? [] : [next - refusedAtMs];
  });
}

const load = (): string => `load ${(loadavg()[0] ?? 0).toFixed(1)}`;

test.for(Object.keys(PROFILES) as Profile[])(
  `${PODS} random pods each get nodes of Muster and of Karpenter, by %s`,
  { timeout: 3_600_000 },
  async (profile, context) => {
    const scene = await openBoth(context, profile, false);
    const { api, cluster, followed, server, karpenterPid } = scene;
    await cluster.apply(provisionerOf(POOL));
    const before = megabytes(server.pid);
    const random = seededRandom(20_261_119);
    const drafts = Array.from({ length: PODS }, (_, at) => ({
      name: `pod-${at}`,
      gpus: SIZES[Math.floor(random.next() * SIZES.length)] ?? 1,
    }));
    await inTurns(drafts, async ({ name, gpus }) => {
      for (const fleet of BOTH) await api.ask('POST', PODS_PATH, fleetPod(fleet, `${fleet}-${name}`, gpus));
    });
    await until('all pods are seen', () => followed.pods.size >= 2 * PODS);
    const unbound = (): string => BOTH.map((fleet) => `${fleet} ${followed.unboundOf(fleet)}`).join(', ');
    for (const tenth of Array.from({ length: 10 }, (_, at) => at + 1)) {
      const isDone = (fleet: Fleet): boolean => followed.unboundOf(fleet) * 10 <= PODS * (10 - tenth);
      await until(`${tenth} tenths of all pods are bound`, () => {
        if (BOTH.every(isDone)) return true;
        throw new Fault('unavailable', `Not bound: ${unbound()}.`);
      });
    }
    await untilQuiet(() => JSON.stringify(BOTH.map((fleet) => followed.nodesOf(fleet))));

    const least = Math.ceil(drafts.reduce((sum, { gpus }) => sum + gpus, 0) / 8);
    for (const fleet of BOTH) {
      const growths = growthsOf(scene, fleet);
      const own = [...followed.pods.values()].filter((pod) => pod.fleet === fleet);
      const bound = own.flatMap(({ refusedAtMs, boundAtMs = 0 }) => (refusedAtMs ? [boundAtMs - refusedAtMs] : []));
      const asked = askedAtMs(scene, fleet).size;
      say(
        `${fleet}, ${profile}: ${asked} nodes asked for, ${followed.nodesOf(fleet).length} kept (at least ${least}); ` +
          `refused → asked for p50 ${quantile(growths, 0.5)} s, p99 ${quantile(growths, 0.99)} s of ${growths.length} pods; ` +
          `refused → bound p50 ${quantile(bound, 0.5)} s, p99 ${quantile(bound, 0.99)} s; ${load()}`,
      );
    }
    const used = megabytes(server.pid);
    say(`resident memory: the server ${before} MB, then ${used} MB; Karpenter ${megabytes(karpenterPid)} MB`);
    const nodesOfPods = new Set([...followed.pods.values()].map(({ node }) => node));
    expect(followed.nodesOf('muster').filter((name) => !nodesOfPods.has(name))).toEqual([]);
    expect(BOTH.map((fleet) => followed.unboundOf(fleet))).toEqual([0, 0]);
  },
);

/** Pods of one GPU by node, as another run of Karpenter left them: the 13 smallest fit into what the other eight have free. */
const SPREAD = [8, 8, 5, 5, 4, 4, 3, 3, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1];
const SPREAD_PODS = SPREAD.reduce((sum, pods) => sum + pods, 0);

const replicaSet = (fleet: Fleet): object => {
  const { spec, metadata } = fleetPod(fleet, 'any', 1) as { spec: object; metadata: { labels: object } };
  const labels = { ...metadata.labels, app: fleet };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: fleet, namespace: 'default' },
    spec: {
      replicas: SPREAD_PODS,
      selector: { matchLabels: { app: fleet } },
      template: { metadata: { labels }, spec },
    },
  };
};

/** So many nodes, each with the pods of its place in the list, which a ReplicaSet makes again. */
async function spreadPods({ api, cluster, followed }: Scene, fleet: Fleet): Promise<void> {
  const holders = SPREAD.map((_, at) => `holds-${fleet}-${at}`);
  await inTurns(holders, (name) => api.ask('POST', PODS_PATH, fleetPod(fleet, name, 8)));
  const nodes = await until(`nodes of ${fleet}`, () => {
    const names = followed.nodesOf(fleet);
    return names.length === SPREAD.length && followed.unboundOf(fleet) === 0 && names;
  });
  const places = SPREAD.flatMap((pods, at) => Array.from({ length: pods }, () => nodes[at] ?? ''));
  const draft = (at: number, node: string) => {
    const pod = fleetPod(fleet, `${fleet}-${at}`, 1, node) as { metadata: { labels: object } };
    return { ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, app: fleet } } };
  };
  await inTurns([...places.entries()], ([at, node]) => api.ask('POST', PODS_PATH, draft(at, node)));
  // It takes over those that are there.
  await cluster.apply(replicaSet(fleet));
  await inTurns(holders, (name) => api.call('DELETE', `${PODS_PATH}/${name}`));
}

const ACTS = {
  minUnutilizedGPUNodes: 0,
  scaleDownDelay: 30,
  defragmentation: { mode: 'act', maxNodesPerHour: 1_000, maxEvictionsPerHour: 1_000 },
};

test.for(Object.keys(PROFILES) as Profile[])(
  `${SPREAD_PODS} pods that are spread over ${SPREAD.length} nodes come to fewer by moves of Muster and of Karpenter, by %s`,
  { timeout: 3_600_000 },
  async (profile, context) => {
    const scene = await openBoth(context, profile, true);
    const { cluster, followed } = scene;
    await cluster.apply(provisionerOf(POOL, { minNodes: SPREAD.length }));
    await Promise.all(BOTH.map((fleet) => spreadPods(scene, fleet)));
    const made = new Map(BOTH.map((fleet) => [fleet, askedAtMs(scene, fleet).size]));
    await cluster.apply(provisionerOf(POOL, ACTS));
    const startMs = systemClock.monotonic();
    await untilQuiet(() => JSON.stringify(BOTH.map((fleet) => [followed.nodesOf(fleet), followed.unboundOf(fleet)])));
    const tookS = Math.round((systemClock.monotonic() - startMs - QUIET_MS) / 1_000);

    const outcome = (fleet: Fleet) => {
      const own = [...followed.pods.values()].filter((pod) => pod.fleet === fleet);
      const evictions = own.length - SPREAD_PODS - SPREAD.length;
      return { freed: SPREAD.length - followed.nodesOf(fleet).length, evictions };
    };
    for (const fleet of BOTH) {
      const { freed, evictions } = outcome(fleet);
      const more = askedAtMs(scene, fleet).size - (made.get(fleet) ?? 0);
      say(
        `${fleet}, ${profile}: ${freed} of ${SPREAD.length} nodes freed by ${evictions} evictions, ${more} more asked for; ` +
          `both at rest after ${tookS} s; ${load()}`,
      );
    }
    expect(BOTH.map((fleet) => followed.unboundOf(fleet))).toEqual([0, 0]);
    // All of them fit on eight nodes, and no pod of the plan is moved twice.
    expect(outcome('muster').freed).toBe(13);
    expect(outcome('muster').evictions).toBeLessThanOrEqual(20);
  },
);
