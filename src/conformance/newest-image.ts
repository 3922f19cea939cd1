// A pool whose configuration names an image without a version follows the newest one, by its `update_policy`.
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import type { ComputerRequest, Computers } from '#core/computer.ts';
import { documentOf, type SliceCloud, type Tree } from '#sim/slice/cloud.ts';
import { openSliceWorld } from '#sim/slice/world.ts';
import { callerAt } from './computers-world.ts';
import { machinesOf, type SliceSuite } from './slice-world.ts';

export interface NewestImageSuite extends SliceSuite {
  /** The keys of the backend that name the image without its version. */
  readonly image: Tree;
  /** Makes the first or second version of that image, usable at once; answers what a machine of it shows of it. */
  publish(cloud: SliceCloud, version: 1 | 2): string;
  /** A computer whose user names no image, and the builder of the one that it gets. */
  readonly computer: Pick<ComputerRequest, 'platform' | 'options'>;
  readonly builder: string;
  /** What each of these machines boots from, as the fake knows it. */
  imageOf(cloud: SliceCloud, id: string): string | undefined;
}

// Clouds are listed every minute, and a provider may keep for five what an image comes to.
const FOLLOWS_WITHIN_MS = 10 * MINUTE_MS;

export function testNewestImage(title: string, suite: NewestImageSuite): void {
  async function afterPublishing(policy: string) {
    const world = await openSliceWorld(suite);
    const { cloud, clock } = world;
    const first = suite.publish(cloud, 1);
    const document = JSON.parse(documentOf(suite, 'gpu-pool', { backend: suite.image }));
    world.documents.write('pools', 'gpu-pool', JSON.stringify({ ...document, update_policy: policy }));
    await clock.advance(3 * MINUTE_MS);
    const images = () => machinesOf(world, world.poolId('gpu-pool')).map((id) => suite.imageOf(cloud, id));
    const before = images();
    const second = suite.publish(cloud, 2);
    await clock.advance(FOLLOWS_WITHIN_MS);
    return { first, second, before, after: images() };
  }

  async function computerAfter(published: readonly (1 | 2)[]) {
    const world = await openSliceWorld(suite);
    const wanted = published.map((version) => suite.publish(world.cloud, version)).at(-1);
    const computers = world.life.features.public.computers as Computers;
    await computers.create({ name: 'dev', ...suite.computer }, callerAt());
    await world.clock.advance(5 * MINUTE_MS);
    const images = world.machines().map(({ id }) => suite.imageOf(world.cloud, id));
    return { wanted, images, found: computers.find('dev') };
  }

  describe(title, () => {
    it('so does a computer whose user names no image', async () => {
      const { wanted, images, found } = await computerAfter([1, 2]);

      expect([found?.status, images]).toEqual(['running', [wanted]]);
    });

    it('of which there is none yet: a computer fails with the command that builds one', async () => {
      const { images, found } = await computerAfter([]);

      expect([found?.status, images]).toEqual(['error', []]);
      expect(found?.computer.failure).toMatchObject({
        kind: 'missing',
        remedy: expect.stringContaining(`muster image build ${suite.builder}`),
      });
    });

    it.each(['replace_idle', 'rolling'])('moves to the newest image by %s', async (policy) => {
      const { first, second, before, after } = await afterPublishing(policy);

      expect([before, after]).toEqual([[first], [second]]);
    });

    it('stays on the image that it has by keep', async () => {
      const { first, before, after } = await afterPublishing('keep');

      expect([before, after]).toEqual([[first], [first]]);
    });
  });
}
