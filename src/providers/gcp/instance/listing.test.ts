import { expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { aBatch, createdBy } from '../../../conformance/scene.ts';
import { openComputeScene } from '../fake/compute/testing/scene.ts';

it('a listing of instances whose answer lacks the labels is refused, and no instance counts as gone', async () => {
  const scene = openComputeScene();
  const backend = await scene.openInstances();
  await createdBy(scene, backend, aBatch(2));
  await scene.clock.advance(60_000);
  const context = scene.contextFor();
  const bare: typeof fetch = async (input, init) => {
    const answer = await context.fetch(input, init);
    if (!String(input).includes('/aggregated/instances')) return answer;
    return new Response((await answer.text()).replaceAll('"labels"', '"others"'), answer);
  };
  const blinded = await scene.openInstances({}, { ...context, fetch: bare });

  await expect(scene.during(blinded.list(going()))).rejects.toMatchObject({ kind: 'unavailable' });
});
