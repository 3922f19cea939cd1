import { expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { AGENT_POOL_CRD } from '../../../agent-pool/crd.ts';
import { POOLS } from '../testing.ts';
import { openKubeWorld } from './testing.ts';

const CRDS = 'customresourcedefinitions.apiextensions.k8s.io';

it.each([0, 2, 4, 6, 8, 10])(
  'a CRD that is installed late is noticed within 10 s (%i s later)',
  async (laterSeconds) => {
    const world = await openKubeWorld();
    await world.clock.advance(SECOND_MS);
    world.others.remove({ resource: CRDS, name: POOLS });
    await world.clock.advance(10 * MINUTE_MS + laterSeconds * SECOND_MS);

    world.others.create(CRDS, AGENT_POOL_CRD);
    await world.clock.advance(SECOND_MS);
    world.apply('gpu');
    await world.clock.advance(9 * SECOND_MS);

    expect(world.pods('gpu')).toHaveLength(1);
  },
);
