import { describe, expect, it } from 'vitest';
import type { Backend, Machine, Outcome } from '#core/provider.ts';
import { stateAt } from './fake/container.ts';
import { aBatch, existing, going, openBackend, openScene, type Scene } from './fake/testing.ts';

const NAME = 'commandlab-daemon';

const openNamed = (scene: Scene): Promise<Backend> => openBackend(scene, { containerName: NAME });

async function created(scene: Scene, launch = aBatch(1)): Promise<readonly Outcome[]> {
  const backend = await openNamed(scene);
  return scene.during(backend.create(launch, going()));
}

describe('a container with a chosen name', () => {
  it('has it in `docker ps`, and is listed by the name of its worker', async () => {
    const scene = openScene();
    const launch = aBatch(1);
    await created(scene, launch);
    const machines = await scene.during((await openNamed(scene)).list(going()));

    expect(existing(scene)).toEqual([NAME]);
    expect(machines.map(({ name }) => name)).toEqual(launch.names);
  });

  it.each(['create', 'inspect', 'put', 'start'])(
    'whose %s got no answer is made once by the next try',
    async (action) => {
      const scene = openScene();
      scene.fake.failureRules.add({ action, what: { kind: 'lost reply' } });

      await expect(created(scene)).rejects.toMatchObject({ kind: 'unavailable' });
      expect(await created(scene)).toEqual([{ name: aBatch(1).names[0] }]);
      const [container, ...others] = scene.fake.containers;
      expect(others).toEqual([]);
      expect(container && stateAt(container, scene.clock.now())).toBe('running');
    },
  );

  it.each<readonly [string, (scene: Scene) => Promise<unknown>, string]>([
    ['somebody', async (scene) => scene.fake.run(NAME), 'from the image others/program'],
    ['another launch', (scene) => created(scene, aBatch(1, { id: 'launch0' })), `of the worker ${aBatch(1).names[0]}`],
  ])('is refused while %s has the name, with who that is', async (_who, hold, whose) => {
    const scene = openScene();
    await hold(scene);
    const [holder] = scene.fake.containers;
    const [outcome] = await created(scene);

    expect(outcome?.fault).toMatchObject({
      kind: 'denied',
      at: 'container_name',
      message: `The name ${NAME} is in use by the container ${holder?.id.slice(0, 12)} ${whose}.`,
    });
    expect(outcome?.fault?.remedy).toBe(`Remove it (\`docker rm -f ${NAME}\`), or choose another container_name.`);
    expect(scene.fake.containers).toHaveLength(1);
  });

  it('of a launch of two workers is for one of them', async () => {
    const scene = openScene();
    const outcomes = await created(scene, aBatch(2));

    expect(outcomes.map(({ fault }) => fault?.kind ?? 'made').toSorted()).toEqual(['denied', 'made']);
  });

  it('is deleted by the name of its worker alone, by any server; then the next may have its name', async () => {
    const scene = openScene();
    const launch = aBatch(1);
    await created(scene, launch);
    const machine: Machine = { name: launch.names[0] ?? '', mark: launch.mark, createdAt: 0, state: 'creating' };
    const backend = await openNamed(scene);
    const outcomes = await scene.during(backend.delete([machine], going()));
    const left = existing(scene);
    const [next] = await created(scene, aBatch(1, { id: 'launch2' }));

    expect(outcomes).toEqual([{ name: machine.name }]);
    expect(left).toEqual([]);
    expect(next?.fault).toBeUndefined();
  });

  it('of somebody else is not deleted in place of a worker that is gone', async () => {
    const scene = openScene();
    const launch = aBatch(1);
    const theirs = scene.fake.run(NAME);
    const machine: Machine = { name: launch.names[0] ?? '', mark: launch.mark, createdAt: 0, state: 'creating' };
    const backend = await openNamed(scene);

    expect(await scene.during(backend.delete([machine], going()))).toEqual([{ name: machine.name }]);
    expect(stateAt(theirs, scene.clock.now())).toBe('running');
  });
});

it('a container whose launch has an end is never started again, whatever the configuration says', async () => {
  const scene = openScene();
  const launch = aBatch(1);
  const hostConfig = { RestartPolicy: { Name: 'always' } };
  const backend = await openBackend(scene, { hostConfig });
  await scene.during(backend.create({ ...launch, boot: { ...launch.boot, endsAt: 60_000 } }, going()));

  expect(scene.fake.containers[0]?.hostConfig.RestartPolicy).toEqual({ Name: 'no' });
});
