import { describe, expect, it } from 'vitest';
import { noWorkers } from '#core/pool-counts.ts';
import type { DocumentReport } from '#core/source.ts';
import { going } from '#core/testing/going.ts';
import { SourceConfig } from '../config.ts';
import { AGENT_POD, installCrd, type KubeScene, openAgentPoolsAt, openKubeScene } from '../testing.ts';
import { openAgentPools } from './source.ts';

const POOLS = '/apis/velda.io/v1/namespaces/default/agentpools';
const NOTHING = new Map<string, string>();

async function withPool() {
  const scene = openKubeScene();
  await installCrd(scene);
  const spec = { autoscaler: { maxReplicas: 4, minIdle: 0, maxIdle: 0 }, template: AGENT_POD };
  const metadata = { name: 'gpu', namespace: 'default' };
  await scene.kubectl('POST', POOLS, { apiVersion: 'velda.io/v1', kind: 'AgentPool', metadata, spec });
  const source = await openAgentPoolsAt(scene);
  const [document] = await scene.during(source.documents(NOTHING, going()));
  return { scene, source, version: document?.version ?? '' };
}

function aReport(version: string, more: Partial<DocumentReport> = {}): DocumentReport {
  const workers = { total: 0, ...noWorkers() };
  const counts = { workers, slots: { total: 0, free: 0 }, sessions: { queued: 0, placed: 0 } };
  return { version, pool: 'gpu', phase: 'active', counts, wanted: 0, ...more };
}

// biome-ignore lint/suspicious/noExplicitAny: the object as kubectl would show it.
const objectIn = ({ fake }: KubeScene): any => fake.object('agentpools.velda.io', 'default', 'gpu');
const writesOf = ({ fake }: KubeScene): number =>
  fake.calls.filter(({ verb }) => ['patch', 'create'].includes(verb)).length;

describe('a source of AgentPools', () => {
  it('hints at a new listing when a writer changes something, and not when it writes a status itself', async () => {
    const { scene, source, version } = await withPool();
    let hints = 0;
    const counted = async (act: () => Promise<unknown>): Promise<number> => {
      const before = hints;
      await act();
      await scene.clock.advance(2_000);
      return hints - before;
    };
    source.watch?.(() => (hints += 1), going());
    const report = (wanted: number) => source.report?.('default/gpu', aReport(version, { wanted }), going());
    await counted(() => scene.during(report(1) as Promise<void>));

    expect(await counted(() => scene.during(report(2) as Promise<void>))).toBe(0);
    const spec = { spec: { autoscaler: { maxReplicas: 5 } } };
    expect(await counted(() => scene.kubectl('PATCH', `${POOLS}/gpu`, spec))).toBe(1);
    expect(await counted(() => scene.kubectl('DELETE', `${POOLS}/gpu`))).toBe(1);
    const forced = { metadata: { annotations: { 'muster.io/force-delete': '' } } };
    expect(await counted(() => scene.kubectl('PATCH', `${POOLS}/gpu`, forced))).toBe(1);
  });
});

describe('an AgentPool that is deleted before our finalizer is on it', () => {
  const deleted = async () => {
    const opened = await withPool();
    await opened.scene.kubectl('DELETE', `${POOLS}/gpu`);
    await opened.scene.clock.advance(1_000);
    return { ...opened, held: new Map([['default/gpu', opened.version]]) };
  };

  it('is told as deleted by its writer, not as missing from a listing, until its pool is gone', async () => {
    const { scene, source, version, held } = await deleted();

    const during = await scene.during(source.documents(held, going()));
    await scene.during(source.report?.('default/gpu', 'gone', going()) as Promise<void>);
    const after = await scene.during(source.documents(held, going()));

    expect(objectIn(scene)).toBeUndefined();
    expect(during).toEqual([{ key: 'default/gpu', version, isDeleted: true }]);
    expect(after).toEqual([]);
  });

  it('is told of no longer once an object of its name is there again', async () => {
    const { scene, source, held } = await deleted();
    const spec = { autoscaler: { maxReplicas: 2, minIdle: 0, maxIdle: 0 }, template: AGENT_POD };
    const metadata = { name: 'gpu', namespace: 'default' };
    await scene.kubectl('POST', POOLS, { apiVersion: 'velda.io/v1', kind: 'AgentPool', metadata, spec });
    await scene.clock.advance(1_000);

    const documents = await scene.during(source.documents(held, going()));

    expect(documents.map(({ key, isDeleted }) => [key, isDeleted])).toEqual([['default/gpu', undefined]]);
  });

  it('is told to nobody who never heard of it', async () => {
    const { scene, source } = await deleted();

    expect(await scene.during(source.documents(NOTHING, going()))).toEqual([]);
  });
});

describe('the writer of an AgentPool', () => {
  it('sees that no server has seen the object yet: without a status, tools that wait would take it for done', async () => {
    const { scene } = await withPool();

    expect(objectIn(scene).status).toEqual({ observedGeneration: -1 });
  });

  it('sees the state of the pool in its status, and our finalizer keeps the object', async () => {
    const { scene, source, version } = await withPool();

    await scene.during(source.report?.('default/gpu', aReport(version), going()) as Promise<void>);

    expect(objectIn(scene).metadata.finalizers).toEqual(['muster.io/drain-cluster1']);
    expect(objectIn(scene).status).toMatchObject({ observedGeneration: 1, phase: 'active', desired: 0 });
  });

  it('is written to only when something has changed', async () => {
    const { scene, source, version } = await withPool();
    const report = (): Promise<void> =>
      scene.during(source.report?.('default/gpu', aReport(version), going()) as Promise<void>);
    await report();
    await scene.clock.advance(1_000);
    const before = writesOf(scene);

    await report();
    await report();

    expect(writesOf(scene)).toBe(before);
  });

  it('finds an event for a decision that acted, at most one a minute', async () => {
    const { scene, source, version } = await withPool();
    const act = async (did: string, afterMs: number): Promise<void> => {
      await scene.clock.advance(afterMs);
      const lastAction = { did, reasons: ['above-max-idle'], why: '2 idle', at: scene.clock.now() };
      const decision = { did: 'nothing', reasons: ['enough'], why: 'enough', at: scene.clock.now() };
      const report = aReport(version, { decision, lastAction });
      await scene.during(source.report?.('default/gpu', report, going()) as Promise<void>);
    };
    const events = () =>
      scene.fake
        .objects('events', 'default')
        .map(({ reason, message }) => `${reason}: ${message}`)
        .toSorted();

    await scene.during(source.report?.('default/gpu', aReport(version), going()) as Promise<void>);
    const none = events();
    await act('remove 1', 1_000);
    await act('remove 2', 1_000);
    const first = events();
    await act('remove 3', 60_000);

    expect(none).toEqual([]);
    expect(first).toEqual(['AboveMaxIdle: remove 1: 2 idle']);
    expect(events()).toEqual(['AboveMaxIdle: remove 1: 2 idle', 'AboveMaxIdle: remove 3: 2 idle']);
  });

  it('waits with a deletion until the pool is gone, and other finalizers stay', async () => {
    const { scene, source, version } = await withPool();
    await scene.during(source.report?.('default/gpu', aReport(version), going()) as Promise<void>);
    await scene.kubectl('PATCH', `${POOLS}/gpu`, {
      metadata: { finalizers: ['argo/other', 'muster.io/drain-cluster1'] },
    });
    await scene.kubectl('DELETE', `${POOLS}/gpu`);
    const [deleted] = await scene.during(source.documents(NOTHING, going()));

    await scene.during(source.report?.('default/gpu', 'gone', going()) as Promise<void>);

    expect(deleted).toMatchObject({ key: 'default/gpu', isDeleted: true });
    expect(objectIn(scene).metadata.finalizers).toEqual(['argo/other']);
  });
});

describe('an AgentPool that two Muster clusters read', () => {
  const reportOf = async ({ scene, source, version }: Awaited<ReturnType<typeof withPool>>) =>
    scene.during(source.report?.('default/gpu', aReport(version), going()) as Promise<void>);
  const openOther = async ({ scene }: Awaited<ReturnType<typeof withPool>>) =>
    openAgentPools(SourceConfig.parse({}), scene.contextFor('cluster2'));

  it('belongs to the one that took it first; the other drops it, says so and writes nothing', async () => {
    const first = await withPool();
    const { scene, version } = first;
    const other = await openOther(first);
    const before = await scene.during(other.documents(NOTHING, going()));
    await reportOf(first);
    const writes = writesOf(scene);

    await scene.during(other.report?.('default/gpu', aReport(version), going()) as Promise<void>);
    await scene.clock.advance(1_000);

    expect(before).toMatchObject([{ key: 'default/gpu' }]);
    expect(await scene.during(other.documents(NOTHING, going()))).toEqual([]);
    expect(other.notes?.()).toEqual([
      'Muster cluster cluster1 has the pool of default/gpu; it is ignored here. ' +
        'If that cluster no longer exists, run `muster kube release`.',
    ]);
    expect(writesOf(scene)).toBe(writes);
    expect(objectIn(scene).metadata.finalizers).toEqual(['muster.io/drain-cluster1']);
  });

  it('goes to the other when the first has let it go', async () => {
    const first = await withPool();
    const { scene } = first;
    const other = await openOther(first);
    await reportOf(first);
    await scene.clock.advance(1_000);
    let hints = 0;
    other.watch?.(() => (hints += 1), going());

    await scene.kubectl('PATCH', `${POOLS}/gpu`, { metadata: { finalizers: null } });
    await scene.clock.advance(1_000);

    expect(hints).toBe(1);
    expect(await scene.during(other.documents(NOTHING, going()))).toMatchObject([{ key: 'default/gpu' }]);
    expect(other.notes?.()).toEqual([]);
  });
});

describe('a cluster without the CRD', () => {
  it('is named with the command that installs it', async () => {
    const scene = openKubeScene();
    const source = await openAgentPoolsAt(scene);

    const listing = scene.during(source.documents(NOTHING, going()));

    await expect(listing).rejects.toMatchObject({
      kind: 'missing',
      remedy: 'Run `muster kube crd | kubectl apply -f -`.',
    });
  });
});
