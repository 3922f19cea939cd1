import { expect, it } from 'vitest';
import type { Backend, Machine, Outcome, PendingCreate } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { aBatch } from '../../../conformance/scene.ts';
import { type AwsScene, GPU, openBackend, openScene, REGION } from '../testing.ts';

const endsOf = (scene: AwsScene, backend: Backend, outcomes: readonly Outcome[]) =>
  scene.during(backend.check?.(outcomes as readonly PendingCreate[], going()) ?? Promise.resolve([]));

it('the check of a creation calls a machine pending until EC2 runs it, also while EC2 does not show it yet', async () => {
  const scene = openScene({ behaviour: { listLagMs: 3_000, bootMs: 20_000 } });
  const backend = await openBackend(scene, { ...GPU, useInstanceIdAsName: true });
  const outcomes = await scene.during(backend.create(aBatch(2), going()));
  const pending = outcomes.map(({ name, operation }) => ({ name, operation }));

  expect(await endsOf(scene, backend, outcomes)).toEqual(pending);
  await scene.clock.advance(10_000);
  expect(await endsOf(scene, backend, outcomes)).toEqual(pending);
  await scene.clock.advance(20_000);
  expect(await endsOf(scene, backend, outcomes)).toEqual(aBatch(2).names.map((name) => ({ name })));
});

it('the check of creations reads no instance that EC2 is still starting', async () => {
  const scene = openScene({ behaviour: { bootMs: 20_000 } });
  const backend = await openBackend(scene);
  const outcomes = await scene.during(backend.create(aBatch(500), going()));
  await endsOf(scene, backend, outcomes);

  expect(scene.fake.countOf('DescribeInstances')).toBe(1);
});

it('the check of a creation tells any server why a machine never came, and the listing shows the others alone', async () => {
  const scene = openScene();
  scene.fake.region(REGION).stock.late.set('p3.2xlarge', 1);
  const launch = aBatch(2);
  const outcomes = await scene.during((await openBackend(scene)).create(launch, going()));
  await scene.clock.advance(60_000);

  expect(outcomes.flatMap(({ fault }) => fault ?? [])).toEqual([]);
  for (const server of [await openBackend(scene), await openBackend(scene)]) {
    const [lost, made] = (await endsOf(scene, server, outcomes)) as [Outcome, Outcome];
    expect(launch.names).toContain(lost.name);
    expect(lost.fault).toMatchObject({ kind: 'exhausted', message: expect.stringContaining('Server.Insufficient') });
    expect(made).toEqual({ name: launch.names[1] });
    expect(await scene.during(server.list(going()))).toMatchObject([made]);
    const left: Machine = { name: lost.name, mark: launch.mark, createdAt: 0, state: 'creating' };
    expect(await scene.during(server.delete([left], going()))).toEqual([{ name: lost.name }]);
    expect(await scene.during(server.list(going()))).toHaveLength(1);
  }
});

it('the check of a creation leaves it to the listing what became of a machine that somebody ended', async () => {
  const scene = openScene();
  const backend = await openBackend(scene);
  const outcomes = await scene.during(backend.create(aBatch(1), going()));
  await scene.during(backend.delete(await scene.during(backend.list(going())), going()));
  await scene.clock.advance(60_000);

  expect(await endsOf(scene, backend, outcomes)).toEqual([]);
});

it('the check of a creation leaves it to the listing what became of a machine that EC2 has forgotten', async () => {
  const scene = openScene();
  const backend = await openBackend(scene);
  const outcomes = await scene.during(backend.create(aBatch(1), going()));
  scene.fake.region(REGION).instances.clear();
  const soon = await endsOf(scene, backend, outcomes);
  await scene.clock.advance(11 * 60_000);

  expect(soon).toMatchObject([{ operation: outcomes[0]?.operation }]);
  expect(await endsOf(scene, backend, outcomes)).toEqual([]);
});
