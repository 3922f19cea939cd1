import { expect, it } from 'vitest';
import { SECOND_MS } from '#core/clock.ts';
import { aBatch, going, openBackend, openScene } from './fake/testing.ts';

it('a container that was made and not started is shown as failed after half a minute, and deleted like any other', async () => {
  const scene = openScene();
  const backend = await openBackend(scene);
  scene.fake.failureRules.add({ action: 'put', what: { kind: 'lost request' } });
  await scene.during(backend.create(aBatch(1), going()).catch(() => {}));
  const listed = async () => (await scene.during(backend.list(going())))[0];

  expect(await listed()).toMatchObject({ state: 'creating' });
  expect((await listed())?.trouble).toBeUndefined();
  await scene.clock.advance(31 * SECOND_MS);
  const machine = await listed();
  expect(machine?.trouble).toMatchObject({ final: true, message: expect.stringContaining('never started') });
  await scene.during(backend.delete(machine ? [machine] : [], going()));
  expect(await listed()).toBeUndefined();
});
