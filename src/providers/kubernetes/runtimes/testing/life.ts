// The whole life of one runtime through the feature, on the simulated cluster; the server may die at one point of it.
import { openGate } from '#clouds/gate.ts';
import { knownKinds } from '#config/kinds.ts';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import { seededRandom } from '#core/random.ts';
import type { Runtime, Runtimes } from '#core/runtime.ts';
import type { Store } from '#core/store.ts';
import { startJournal } from '#journal/journal.ts';
import { quantityOf } from '#kube/quantity.ts';
import runtimesFeature from '#runtimes/index.ts';
import { sectionSchema } from '#runtimes/section.ts';
import { emptyDisk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import { type Fate, type Mortal, openFate, type Point } from '#store/testing/mortal.ts';
import { fieldsOf } from '../../fake/objects/object.ts';
import provider from '../../index.ts';
import { openRuntimeScene } from '../testing.ts';

const NAMESPACE = 'cloud-runtime';
const CLAIMS = 'persistentvolumeclaims';
const KINDS = ['statefulsets.apps', 'deployments.apps', 'services', 'ingresses.networking.k8s.io', CLAIMS, 'pods'];
const CALLER = { who: 'token:ci', from: '10.0.0.7' };

/** What was there after each step, and what must never happen. */
export interface Lived {
  /** By step: `Kind/name` of every object of the namespace. */
  readonly steps: Readonly<Record<string, readonly string[]>>;
  /** Claims that went before the runtime was to be removed. */
  readonly lostClaims: readonly string[];
  /** The claims of the runtime by uid: one, for its whole life. */
  readonly claims: readonly string[];
  /** Bytes of each claim while it hibernates. */
  readonly storage: readonly (number | undefined)[];
  readonly foreign: readonly (string | undefined)[];
  readonly fate: Fate;
}

interface Process extends Mortal {
  readonly runtimes: Runtimes;
  readonly store: Store;
}

// Time in which nothing happens would only make more calls.
const QUICK = { scheduleMs: 5, startMs: 20, stopMs: 5, collectMs: 5 };
const LOOK_MS = 500;
const MOST_LOOKS = 240;

/** Lives it; `point` is where something happens. */
export async function live(texts: Readonly<Record<string, string>>, point?: Point): Promise<Lived> {
  const scene = await openRuntimeScene(texts);
  const { clock, fake } = scene;
  Object.assign(fake.behaviour, QUICK);
  const disk = emptyDisk();
  const fate = openFate(point);
  let process: Process | undefined;

  const labels = { 'muster.io/cluster': 'another', 'muster.io/runtime': 'a' };
  const others = [
    ['services', { metadata: { name: 'foreign', labels } }],
    [CLAIMS, { metadata: { name: 'data-foreign-0', labels: { 'app.kubernetes.io/name': 'runtime-a' } } }],
  ] as const;
  for (const [plural, object] of others)
    await scene.kubectl('POST', `/api/v1/namespaces/${NAMESPACE}/${plural}`, object);
  const foreign = (): (string | undefined)[] =>
    others.map(([plural, { metadata }]) => fake.object(plural, NAMESPACE, metadata.name)?.metadata.resourceVersion);
  const before = foreign();

  const claimsOf = () =>
    fake.objects(CLAIMS, NAMESPACE).filter((one) => one.metadata.labels?.['muster.io/cluster'] === 'cluster1');
  const claims = new Set<string>();
  const lostClaims: string[] = [];
  let mayRemove = false;
  fake.world.store.watch(({ type, storage, object: { metadata } }) => {
    if (storage !== `/${CLAIMS}` || metadata.labels?.['muster.io/cluster'] !== 'cluster1') return;
    claims.add(metadata.uid);
    if (!mayRemove && (type === 'DELETED' || metadata.deletionTimestamp !== undefined)) lostClaims.push(metadata.name);
  });

  async function open(): Promise<Process> {
    const self = fate.mortal();
    const store = await openStore(self.driver(memoryDriver(disk)), (fault) => {
      throw fault;
    });
    const base = { store, clock: self.clock(clock), random: seededRandom(1), log: silentLog };
    const fetch = self.fetch(fake.fetch);
    const kinds = knownKinds([provider]);
    const provisioners = { cluster: { type: 'kubernetes', spec: scene.config } };
    const runtimes = runtimesFeature.start({
      ...base,
      kinds,
      journal: startJournal(base),
      gate: openGate(base),
      context: { ...scene.contextFor(), clock: base.clock, cluster: store.cluster, fetch, fetchWith: () => fetch },
      settings: sectionSchema(kinds).parse({ provisioners, default: 'cluster', checkInterval: '1h' }),
    });
    return { ...self, runtimes, store };
  }

  /** Asks, and waits until it is so; where the server dies, the next one is asked again. */
  async function step(
    ask: (runtimes: Runtimes) => Promise<unknown>,
    isSo: (row: Runtime | undefined) => boolean,
  ): Promise<void> {
    let asked: Process | undefined;
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      if (!process || process.isDead()) process = await open();
      if (asked !== process) {
        asked = process;
        ask(process.runtimes).catch((thrown) => {
          if (Fault.from(thrown).kind !== 'missing') throw thrown;
        });
      }
      await clock.advance(LOOK_MS);
      if (!process.isDead() && isSo(process.store.view.runtimes.get('a'))) break;
    }
    const row = process?.store.view.runtimes.get('a');
    if (!isSo(row)) throw new Fault('internal', `It is ${row?.phase}: ${row?.why}`);
    // Pods go after what made them.
    await clock.advance(2_000);
  }

  const there = (): readonly string[] =>
    KINDS.flatMap((kind) =>
      fake.objects(kind, NAMESPACE).map(({ metadata }) => `${kind.split('.')[0]}/${metadata.name}`),
    );
  const isReady = (slots: number) => (row: Runtime | undefined) => row?.phase === 'ready' && row.grant?.cpu === slots;
  const steps: Record<string, readonly string[]> = {};

  await step((it) => it.create({ id: 'a', slots: 1, version: '1', annotations: { org: 'acme' } }, CALLER), isReady(1));
  steps.ready = there();
  await step((it) => it.edit('a', { slots: 2 }, CALLER), isReady(2));
  steps.resized = there();
  await step(
    (it) => it.hibernate('a', CALLER),
    (row) => row?.phase === 'hibernated',
  );
  steps.hibernated = there();
  const storage = claimsOf().map(({ spec }) => quantityOf(fieldsOf(fieldsOf(spec?.resources).requests).storage));
  await step((it) => it.wake('a', CALLER), isReady(2));
  steps.awake = there();
  mayRemove = true;
  await step(
    (it) => it.remove('a', CALLER),
    (row) => row === undefined,
  );
  steps.gone = there();
  const after = foreign();
  return {
    steps,
    lostClaims,
    claims: [...claims],
    storage,
    foreign: after.filter((version, at) => version !== before[at]),
    fate,
  };
}
