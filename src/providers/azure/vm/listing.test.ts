import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import type { Backend, Machine, PendingCreate } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { aBatch } from '../../../conformance/scene.ts';
import type { FakeAzureOptions } from '../fake/fake-azure.ts';
import { type AzureScene, computeOf, contextIn, openBackend, openScene, remainsIn } from '../fake/testing.ts';

async function made(count: number, options: FakeAzureOptions = {}, config: object = {}) {
  const scene = openScene(options);
  const backend = await openBackend(scene, config);
  await scene.during(backend.create(aBatch(count), going()));
  await scene.clock.advance(10_000);
  return { scene, backend };
}

const list = (scene: AzureScene, backend: Backend): Promise<readonly Machine[]> => scene.during(backend.list(going()));

const DENIED = { kind: 'error', code: 'AuthorizationFailed', status: 403 } as const;
const check = (scene: AzureScene, { check: ask }: Backend, pending: readonly PendingCreate[]) =>
  scene.during(ask?.(pending, going()) ?? Promise.resolve([]));

describe('a check of pending machines', () => {
  it('says from the operation why a machine never came, also of one that Azure does not even list', async () => {
    const scene = openScene();
    Object.assign(computeOf(scene).settings, { late: 1, lagMs: 60 * MINUTE_MS });
    const backend = await openBackend(scene);
    const pending = (await scene.during(backend.create(aBatch(2), going()))) as PendingCreate[];
    const soon = await check(scene, backend, pending);
    await scene.clock.advance(MINUTE_MS);
    const later = await check(scene, await openBackend(scene, {}, contextIn(scene)), pending);
    const [lost, made] = pending;

    expect(soon).toEqual(pending);
    expect(later).toMatchObject([
      { name: lost?.name, fault: { kind: 'exhausted', message: expect.stringContaining('AllocationFailed') } },
      { name: made?.name },
    ]);
    expect(later[1]).toEqual({ name: made?.name });
    expect(await list(scene, backend)).toEqual([]);
  });

  it('is refused without the right to read operations', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    const pending = (await scene.during(backend.create(aBatch(1), going()))) as PendingCreate[];
    scene.fake.failureRules.add({ action: 'management.operation', times: 1_000, what: DENIED });

    await expect(check(scene, backend, pending)).rejects.toMatchObject({ kind: 'denied' });
  });

  it('does not know of an operation that Azure has forgotten', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    const pending = (await scene.during(backend.create(aBatch(1), going()))) as PendingCreate[];
    computeOf(scene).operations.clear();

    expect(await check(scene, backend, pending)).toEqual([]);
  });
});

describe('a listing', () => {
  it('reads all pages, and is one request where they fit into one', async () => {
    const { scene, backend } = await made(10, { pageSize: 3 });
    expect(await list(scene, backend)).toHaveLength(10);

    scene.fake.world.largestPage = 50;
    const before = scene.fake.countOf('management.vmList');
    const machines = await list(scene, backend);

    expect(scene.fake.countOf('management.vmList') - before).toBe(1);
    expect(machines[0]).toMatchObject({ state: 'running', id: computeOf(scene).vms[0]?.vmId });
  });

  it('says why a machine failed from its view, which is asked for once a minute', async () => {
    const scene = openScene();
    computeOf(scene).settings.late = 3;
    const backend = await openBackend(scene);
    await scene.during(backend.create(aBatch(3), going()));
    await scene.clock.advance(10_000);
    const machines = await list(scene, backend);
    for (const _again of [1, 2]) await list(scene, backend);

    expect([scene.fake.countOf('management.vmView'), scene.fake.countOf('management.operation')]).toEqual([3, 0]);
    for (const machine of machines)
      expect(machine).toMatchObject({
        state: 'failed',
        trouble: { kind: 'exhausted', message: expect.stringContaining('AllocationFailed'), final: true },
      });
  });

  it('is whole without the right to read the views of machines, and the log says so', async () => {
    const scene = openScene();
    computeOf(scene).settings.late = 1;
    const backend = await openBackend(scene);
    await scene.during(backend.create(aBatch(2), going()));
    scene.fake.failureRules.add({ action: 'management.vmView', times: 1_000, what: DENIED });
    await scene.clock.advance(10_000);

    expect(await list(scene, backend)).toMatchObject([{ state: 'creating' }, { state: 'running' }]);
    expect(scene.lines.join()).toContain('cannot find out why machines failed');
  });

  it('does not give up a machine that runs though an update of it failed', async () => {
    const { scene, backend } = await made(1);
    const [vm] = computeOf(scene).vms;
    if (vm) vm.isUpdateFailed = true;
    const [machine] = await list(scene, backend);

    expect(machine).toMatchObject({ state: 'running' });
    expect(machine?.trouble).toBeUndefined();
  });

  it('no longer has a spot machine that Azure has taken', async () => {
    const { scene, backend } = await made(2, {}, { market: 'spot' });
    const { vms, evict } = computeOf(scene);
    if (vms[0]) evict(vms[0]);
    await scene.clock.advance(40_000);

    expect((await list(scene, backend)).map(({ name }) => name)).toEqual([vms[1]?.name]);
  });
});

it('a rotated secret, or another application, lists the same machines as those of the same cloud', async () => {
  const { scene, backend } = await made(2);
  scene.fake.world.proofs.set('app2', 'rotated');
  const variables = { AZURE_TENANT_ID: 'tenant1', AZURE_CLIENT_ID: 'app2', AZURE_CLIENT_SECRET: 'rotated' };
  const rotated = await openBackend(scene, {}, scene.contextFor(undefined, variables));

  expect([rotated.cloud, rotated.account]).toEqual([backend.cloud, backend.account]);
  expect(await list(scene, rotated)).toEqual(await list(scene, backend));
});

describe('a deletion', () => {
  it('takes interface, address and disk along, and nothing of the others', async () => {
    const { scene, backend } = await made(3);
    const machines = await list(scene, backend);
    await scene.during(backend.delete(machines.slice(0, 2), going()));
    await scene.clock.advance(10_000);
    const name = machines[2]?.name;

    expect(remainsIn(computeOf(scene))).toEqual([name, `${name}-nic`, `${name}-ip`, `${name}-os`]);
    expect(scene.fake.countOf('management.vmDelete')).toBe(2);
  });

  it('is not repeated while Azure still deletes', async () => {
    const { scene, backend } = await made(1);
    const machines = await list(scene, backend);
    for (const _again of [1, 2]) {
      await scene.during(backend.delete(machines, going()));
      await list(scene, backend);
    }

    expect(scene.fake.countOf('management.vmDelete')).toBe(1);
  });
});

describe('parts that stay behind', () => {
  it('are listed under the name of their machine after some minutes, and deleted step by step', async () => {
    const { scene, backend } = await made(2);
    const compute = computeOf(scene);
    compute.settings.strands = 1;
    const [machine] = (await list(scene, backend)) as [Machine];
    await scene.during(backend.delete([machine], going()));
    await scene.clock.advance(10_000);
    const { name } = machine;
    const stranded = remainsIn(compute).filter((one) => one.startsWith(name));
    const soon = await list(scene, backend);
    for (let passed = 0; passed < 12; passed++) {
      await scene.clock.advance(MINUTE_MS);
      await list(scene, backend);
    }
    const later = await list(scene, backend);
    const left = later.find((one) => one.name === name) as Machine;
    await scene.during(backend.delete([left], going()));
    await scene.clock.advance(10_000);

    expect(stranded).toEqual([`${name}-nic`, `${name}-ip`, `${name}-os`]);
    expect(soon.map((one) => one.name)).not.toContain(name);
    expect(left).toMatchObject({ state: 'failed', mark: machine.mark });
    expect(remainsIn(compute).filter((one) => one.startsWith(name))).toEqual([]);
    expect(await list(scene, backend)).toHaveLength(1);
  });

  it('are not those of a machine that is being made and not listed yet', async () => {
    const scene = openScene({ lagMs: 60 * MINUTE_MS, bootMs: 60 * MINUTE_MS });
    const backend = await openBackend(scene);
    await scene.during(backend.create(aBatch(1), going()));
    for (const part of computeOf(scene).parts)
      Object.assign(part, { vm: { ...part.vm, timeline: [{ atMs: 0, state: 'gone' }] }, goesAlong: false });
    for (let passed = 0; passed < 12; passed++) {
      await scene.clock.advance(MINUTE_MS);
      expect(await list(scene, backend)).toEqual([]);
    }

    expect(remainsIn(computeOf(scene))).toHaveLength(4);
  });

  it('of another cluster are left alone', async () => {
    const { scene, backend } = await made(1);
    const compute = computeOf(scene);
    compute.settings.strands = 1;
    await scene.during(backend.delete(await list(scene, backend), going()));
    const other = await openBackend(scene, {}, contextIn(scene, 'cluster2'));
    for (let passed = 0; passed < 12; passed++) {
      await scene.clock.advance(MINUTE_MS);
      expect(await list(scene, other)).toEqual([]);
    }

    expect(remainsIn(compute)).toHaveLength(3);
  });

  it('are not those of a machine whose tags were taken off', async () => {
    const { scene, backend } = await made(1);
    await list(scene, backend);
    const [vm] = computeOf(scene).vms;
    if (vm) Object.assign(vm, { tags: {} });
    for (let passed = 0; passed < 12; passed++) {
      await scene.clock.advance(MINUTE_MS);
      expect(await list(scene, backend)).toEqual([]);
    }
  });

  it('that may not be listed fail no listing of machines; the log says what is missing', async () => {
    const { scene, backend } = await made(1);
    scene.fake.failureRules.add({ action: 'management.partList', times: 1_000, what: DENIED });
    await scene.clock.advance(6 * MINUTE_MS);

    expect(await list(scene, backend)).toHaveLength(1);
    expect(scene.lines.join()).toContain('cannot look for parts of deleted machines');
  });
});
