// Scenes of the whole plane on the simulated cluster: pools of AgentPool objects with idle and busy pods.
import { MINUTE_MS } from '#core/clock.ts';
import { documentOf, type SliceHarness, type Tree } from '#sim/slice/cloud.ts';
import { openSliceWorld, type SliceWorld, type SourceEntry } from '#sim/slice/world.ts';
import type { FakeKubernetes } from '../../fake-kubernetes.ts';
import type { KubeObject } from '../../objects/object.ts';
import { type Named, type Others, othersIn } from '../others.ts';
import { agentPool, fakesOf, KUBERNETES_SLICE, POOLS } from '../testing.ts';

export interface KubeWorld extends SliceWorld {
  readonly fake: FakeKubernetes;
  readonly others: Others;
  /** Creates an AgentPool that keeps one idle pod, unless it says otherwise. */
  apply(name: string, more?: { readonly namespace?: string; readonly scaler?: Tree; readonly spec?: Tree }): void;
  /** The pods of a pool that are neither deleted nor ended, by name. */
  pods(pool: string): string[];
  pool(name: string, namespace?: string): KubeObject | undefined;
  /** `False Failing: …` of a condition of an AgentPool. */
  condition(name: string, type: string, namespace?: string): string;
  /** Calls of these verbs since the last time this was asked. */
  calls(verbs: readonly string[]): string[];
}

const DOCUMENTS: SourceEntry = { name: 'documents', place: 'pools' };
const NEVER_DECAYS = { idle_decay: '3600s' };

export const aNamed = (name: string, namespace = 'default'): Named => ({ resource: POOLS, namespace, name });

export async function openKubeWorld(
  harness: SliceHarness = KUBERNETES_SLICE,
  sources: readonly SourceEntry[] = [DOCUMENTS],
): Promise<KubeWorld> {
  const world = await openSliceWorld(harness, { sources, pageSize: 100 });
  const fake = fakesOf.get(world.cloud) as FakeKubernetes;
  const others = othersIn(fake);
  let seen = 0;
  const own = {
    fake,
    others,
    apply(name: string, { namespace = 'default', scaler = {}, spec = {} }: Parameters<KubeWorld['apply']>[1] = {}) {
      const object = agentPool(
        namespace,
        name,
        documentOf(harness, name, { scaler: { ...NEVER_DECAYS, ...scaler } }),
      ) as KubeObject;
      others.create(POOLS, { ...object, spec: { ...object.spec, ...spec } });
    },
    pods: (pool: string) =>
      world
        .machines()
        .flatMap(({ name }) => (name.startsWith(`m-${pool}-`) ? [name] : []))
        .toSorted(),
    pool: (name: string, namespace = 'default') => others.get(aNamed(name, namespace)),
    condition(name: string, type: string, namespace = 'default') {
      const { conditions = [] } = (own.pool(name, namespace)?.status ?? {}) as {
        conditions?: Record<string, string>[];
      };
      const found = conditions.find((each) => each.type === type);
      return found ? `${found.status} ${found.reason}: ${found.message}` : 'none';
    },
    calls(verbs: readonly string[]) {
      const since = fake.calls.slice(seen);
      seen = fake.calls.length;
      return since.filter(({ verb }) => verbs.includes(verb)).map(({ action, path }) => `${action} ${path}`);
    },
  };
  // The getters of the world stay what they are.
  return Object.defineProperties(own, Object.getOwnPropertyDescriptors(world)) as KubeWorld;
}

/** A pool with an idle pod and a busy one, whose session lasts that long. */
export async function withBusyPool(world: KubeWorld, durationMs: number, name = 'gpu'): Promise<void> {
  world.apply(name);
  await world.clock.advance(MINUTE_MS);
  await world.life.submit(name, 1, durationMs);
  await world.clock.advance(MINUTE_MS);
}
