import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { openWorld } from '../system/harness/world.ts';
import { furnish, instancesOf, openAws } from './parts/aws.ts';
import { needed } from './parts/part.ts';
import { startPlane } from './parts/plane.ts';
import { pythonPrograms } from './parts/python.ts';
import { openTerraform } from './parts/terraform.ts';

const HERE = import.meta.dirname;
const AGREED = ['-no-color', '-auto-approve'];

test('parameters written with Terraform become pools and instances, change, and go', async (context) => {
  const programs = needed(context, await pythonPrograms());
  const world = openWorld(context);
  const cloud = await openAws(world, programs);
  const terraform = needed(context, await openTerraform(world, join(HERE, 'terraform'), cloud.env));
  await furnish(cloud);
  const plane = await startPlane(world, cloud);

  await terraform.run('apply', ...AGREED);
  await plane.untilPools(['cpu-pool', 'gpu-pool']);
  await plane.untilInstances('gpu-pool', 2);
  await plane.untilInstances('cpu-pool', 5);

  const file = join(terraform.folder, 'seed.tf');
  writeFileSync(file, readFileSync(file, 'utf8').replace('min_idle_agents = 2', 'min_idle_agents = 3'));
  await terraform.run('apply', ...AGREED);
  await plane.untilInstances('gpu-pool', 3);
  const changed = await plane.api.pool('gpu-pool');

  // All at once: that is held until somebody says that it is meant.
  const doomed = ['-target=aws_ssm_parameter.gpu_pool', '-target=aws_ssm_parameter.cpu_pool'];
  await terraform.run('destroy', ...AGREED, ...doomed);
  const held = await until('the removal is held', async () => (await plane.source())?.held);
  const living = (await instancesOf(cloud)).length;
  await plane.muster('source', 'approve', 'parameters');
  await plane.untilPools([]);
  await until('no instance is left', async () => (await instancesOf(cloud)).length === 0);

  expect(changed.owner.version).toBe('2');
  expect(held.keys.toSorted()).toEqual(['/velda/pools/cpu-pool', '/velda/pools/gpu-pool']);
  expect(living).toBe(8);
});
