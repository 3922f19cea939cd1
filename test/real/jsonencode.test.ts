import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openWorld } from '../system/harness/world.ts';
import { openAws } from './parts/aws.ts';
import { needed } from './parts/part.ts';
import { startPlane } from './parts/plane.ts';
import { pythonPrograms } from './parts/python.ts';
import { runWell } from './parts/run.ts';
import { findTerraform } from './parts/terraform.ts';

// Needs no provider: what Terraform's `jsonencode` writes is stored with the AWS CLI and read by the server.
test('a document as Terraform encodes it is read letter by letter', async (context) => {
  const { program } = needed(context, await findTerraform());
  const programs = needed(context, await pythonPrograms());
  const world = openWorld(context);
  const cloud = await openAws(world, programs);
  const plane = await startPlane(world, cloud);
  const folder = world.path('encode');
  mkdirSync(folder);
  cpSync(join(import.meta.dirname, 'jsonencode.tf'), join(folder, 'main.tf'));
  const options = { env: { ...(process.env as Record<string, string>), CHECKPOINT_DISABLE: '1' }, cwd: folder };

  await runWell(program, ['apply', '-no-color', '-auto-approve', '-input=false'], options);
  const value = await runWell(program, ['output', '-raw', 'document'], options);
  writeFileSync(world.path('value.json'), value);
  const file = `file://${world.path('value.json')}`;
  await cloud.aws('ssm', 'put-parameter', '--name', '/velda/pools/odd', '--type', 'String', '--value', file);
  await plane.untilPools(['odd']);
  const pool = await plane.api.pool('odd');

  expect(value).toContain('\\u003c');
  expect(pool.description).toBe('<odd> & "quoted" é');
  expect(pool.auto_scaler.max_price_per_hour).toBe(1.5);
});
