import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Machine } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { aBatch } from '../../../conformance/scene.ts';
import type { FakeGroup } from '../fake/containers/groups.ts';
import { containersOf, groupsIn, openInContainers } from '../fake/containers/testing.ts';
import { type AzureScene, openScene } from '../fake/testing.ts';

const GET = 'management.containerGet';
const DELETE = 'management.containerDelete';

/** Groups of one launch, and the backend that made them. */
async function openGroups(count = 1, prepare?: (scene: AzureScene) => void) {
  const scene = openScene({ lagMs: 0 });
  prepare?.(scene);
  const backend = await openInContainers(scene);
  const launch = aBatch(count);
  const withPort = { ...launch, boot: { ...launch.boot, port: 8000 } };
  await scene.during(backend.create(withPort, going()));
  const list = (): Promise<readonly Machine[]> => scene.during(backend.list(going()));
  const [first] = containersOf(scene).all;
  return { scene, backend, list, first: first as FakeGroup };
}

describe('a listing', () => {
  it('shows a group as on its way until Azure has placed it, and then with its address', async () => {
    const { scene, list, first } = await openGroups();
    const [before] = await list();
    await scene.clock.advance(10 * SECOND_MS);
    containersOf(scene).settings.isAddressLate = true;
    const [placed] = await list();
    containersOf(scene).settings.isAddressLate = false;
    const [after] = await list();

    expect([placed?.state, placed?.endpoints]).toEqual(['running', undefined]);
    expect([before?.state, before?.endpoints, before?.createdAt]).toEqual(['creating', undefined, 1_000]);
    expect([after?.state, after?.endpoints]).toEqual(['running', [{ host: first.ip, port: 8000 }]]);
  });

  it('shows a container that has ended with its exit code and the end of its log, and without an address', async () => {
    const { scene, list, first } = await openGroups();
    await scene.clock.advance(10 * SECOND_MS);
    containersOf(scene).finish(first, 1, 'agent: cannot reach the server');
    const [machine] = await list();

    expect(machine).toMatchObject({
      state: 'failed',
      trouble: {
        final: true,
        message: 'the container has ended with exit code 1 (Error); its log ends: agent: cannot reach the server',
      },
    });
    expect(machine?.endpoints).toBeUndefined();
  });

  it('shows a container that has ended although its log cannot be read', async () => {
    const { scene, list, first } = await openGroups();
    await scene.clock.advance(10 * SECOND_MS);
    containersOf(scene).finish(first, 0);
    scene.fake.world.denied.add('Microsoft.ContainerInstance/containerGroups/containers/logs/read');

    expect((await list())[0]?.trouble?.message).toBe('the container has ended with exit code 0 (Completed)');
  });

  it('shows a group that somebody has stopped as ended', async () => {
    const { scene, list, first } = await openGroups();
    await scene.clock.advance(10 * SECOND_MS);
    containersOf(scene).stop(first);

    expect((await list())[0]).toMatchObject({
      state: 'failed',
      trouble: { final: true, message: 'somebody has stopped the container group' },
    });
  });

  it('shows why Azure did not place a group that it had agreed to', async () => {
    const { scene, list } = await openGroups(1, ({ fake }) => {
      fake.world.compute.settings.late = 1;
    });
    await scene.clock.advance(10 * SECOND_MS);
    const [machine] = await list();

    expect(machine).toMatchObject({ state: 'failed', trouble: { kind: 'exhausted', final: true } });
    expect(machine?.trouble?.message).toContain('not available in the location');
  });

  it('asks at most 20 groups whether they run, each after 20 seconds again, and one that has ended never again', async () => {
    const { scene, list, first } = await openGroups(25);
    const { clock, fake } = scene;
    await clock.advance(10 * SECOND_MS);
    const asked = fake.countOf(GET);
    const counts: number[] = [];
    for (let round = 0; round < 3; round++) {
      await list();
      counts.push(fake.countOf(GET) - asked);
    }
    containersOf(scene).finish(first, 0);
    await clock.advance(20 * SECOND_MS);
    await list();
    await list();
    counts.push(fake.countOf(GET) - asked);
    await clock.advance(20 * SECOND_MS);
    await list();
    await list();
    counts.push(fake.countOf(GET) - asked);

    expect(counts).toEqual([20, 25, 25, 50, 74]);
  });

  it('is whole although groups cannot be asked by themselves, and says so', async () => {
    const { scene, list } = await openGroups();
    await scene.clock.advance(10 * SECOND_MS);
    scene.fake.failureRules.add({ action: GET, what: { kind: 'error', code: 'InternalServerError', status: 500 } });
    const [machine] = await list();

    expect(machine?.state).toBe('running');
    expect(scene.lines.join('\n')).toContain('cannot find out whether containers still run');
  });
});

describe('a deletion', () => {
  it('that Azure refuses while the group is in transition is reported, and succeeds when it is repeated', async () => {
    const { scene, backend, list } = await openGroups();
    await scene.clock.advance(10 * SECOND_MS);
    const machines = await list();
    const what = { kind: 'error', code: 'ContainerGroupTransitioning', message: 'Still.', status: 409 } as const;
    scene.fake.failureRules.add({ action: DELETE, what });
    const [refused] = await scene.during(backend.delete(machines, going()));
    const [accepted] = await scene.during(backend.delete(machines, going()));
    await scene.clock.advance(MINUTE_MS);

    expect([refused?.fault?.kind, accepted?.fault]).toEqual(['conflict', undefined]);
    expect(groupsIn(containersOf(scene), scene.clock.now())).toEqual([]);
  });

  it('takes a group whose container has ended away too', async () => {
    const { scene, backend, list, first } = await openGroups();
    await scene.clock.advance(10 * SECOND_MS);
    containersOf(scene).finish(first, 0);
    await scene.during(backend.delete(await list(), going()));
    await scene.clock.advance(MINUTE_MS);

    expect(groupsIn(containersOf(scene), scene.clock.now())).toEqual([]);
  });
});
