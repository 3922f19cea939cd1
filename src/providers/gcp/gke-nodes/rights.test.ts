import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DAY_MS } from '#core/clock.ts';
import type { NodeGroup } from '#core/node-group.ts';
import { going } from '#core/testing/going.ts';
import { urlOf } from '../fake/compute/instance.ts';
import { PROJECT } from '../fake/compute/seed-data.ts';
import { addNodeGroup } from '../fake/compute/testing/node-laws.ts';
import { openComputeScene } from '../fake/compute/testing/scene.ts';
import { GkeNodesConfig } from './config.ts';
import { openGkeNodes } from './groups.ts';

const ROLE = join(import.meta.dirname, '../../../../deploy/terraform/gke-nodes/server.tf');
const CLUSTER = `projects/${PROJECT}/locations/us-central1/clusters/velda`;

const granted = new Set(
  [...readFileSync(ROLE, 'utf8').matchAll(/"((?:compute|container)\.\S+)"/g)].map((one) => one[1]),
);

/** All rights but those of the role, as far as the fake cloud asks for them. */
class Denied extends Set<string> {
  override has(right: string): boolean {
    return !granted.has(right);
  }
}

it('the role of the Terraform example lets Muster find, read, grow, cancel and shrink the groups of node pools', async () => {
  const scene = openComputeScene();
  const { world } = scene.fake;
  world.clusters.set(CLUSTER, { name: 'velda', location: 'us-central1' });
  addNodeGroup(scene, 'zones/us-central1-a', 'grp');
  const instanceGroupUrls = [urlOf(PROJECT, 'zones/us-central1-a/instanceGroupManagers/grp')];
  const autoscaling = { enabled: false };
  world.pools.set(CLUSTER, [
    { name: 'h100', status: 'RUNNING', autoscaling, config: {}, locations: ['us-central1-a'], instanceGroupUrls },
  ]);
  Object.assign(world, { denied: new Denied() });
  const config = GkeNodesConfig.parse({ project: PROJECT, location: 'us-central1', clusterName: 'velda' });
  const groups = await scene.during(openGkeNodes(config, scene.contextFor()));

  const names = ['us-central1-a/h100'];
  const found = await scene.during(groups.find({ names, providerIds: [] }, going()));
  const group = found.get('us-central1-a/h100') as NodeGroup;
  const [first, queued] = ['grp-aa', 'grp-bb'];
  await scene.during(group.grow({ id: 'g1', count: 1, to: 1, names: [first] }, going()));
  world.compute.isQueueHeld = true;
  await scene.during(group.grow({ id: 'g2', count: 1, to: 2, names: [queued], runForMs: DAY_MS }, going()));
  await scene.clock.advance(60_000);
  const grown = await scene.during(group.describe(going()));
  await scene.during(
    group.cancel(
      grown.requests.map(({ id }) => id),
      going(),
    ),
  );
  await scene.during(
    group.remove(
      grown.instances.map(({ id }) => id),
      going(),
    ),
  );
  await scene.clock.advance(60_000);

  expect(grown).toMatchObject({ instances: [{ name: first }], requests: [{ names: [queued] }] });
  expect(await scene.during(group.describe(going()))).toMatchObject({ wanted: 0, instances: [], requests: [] });
  expect(granted.size).toBeGreaterThan(5);
});
