import { RunInstancesCommand } from '@aws-sdk/client-ec2';
import { expect, test } from 'vitest';
import type { Instance } from './ec2/instance.ts';
import { openImds } from './imds.ts';
import { SEED_DATA } from './seed-data.ts';
import { openScene } from './testing.ts';

const BASE = 'http://169.254.169.254/latest';

async function openMachine() {
  const scene = openScene();
  await scene.ec2.send(
    new RunInstancesCommand({
      LaunchTemplate: { LaunchTemplateName: SEED_DATA.cpuTemplate },
      InstanceMarketOptions: { MarketType: 'spot' },
      UserData: Buffer.from('#!/bin/sh\n').toString('base64'),
      TagSpecifications: [{ ResourceType: 'instance', Tags: [{ Key: 'muster:pool', Value: 'p1' }] }],
      MinCount: 2,
      MaxCount: 2,
    }),
  );
  const instance = scene.fake.machines()[1] as Instance;
  const handle = openImds(instance, scene.fake.world);
  const token = (ttl: string) =>
    handle(
      new Request(`${BASE}/api/token`, { method: 'PUT', headers: { 'x-aws-ec2-metadata-token-ttl-seconds': ttl } }),
    );
  const ask = async (path: string, held: string): Promise<[number, string]> => {
    const response = handle(new Request(`${BASE}/${path}`, { headers: { 'x-aws-ec2-metadata-token': held } }));
    return [response.status, await response.text()];
  };
  return { ...scene, instance, handle, token, ask };
}

test('nothing is answered without a token, or with an old one', async () => {
  const { token, ask, clock } = await openMachine();
  const held = await token('60').text();

  expect(await ask('meta-data/instance-id', '')).toEqual([401, 'Unauthorized']);
  expect((await ask('meta-data/instance-id', held))[0]).toBe(200);
  await clock.advance(61_000);
  expect((await ask('meta-data/instance-id', held))[0]).toBe(401);
  expect(token('0').status).toBe(400);
});

test('a machine learns who it is and which of its launch', async () => {
  const { token, ask, instance } = await openMachine();
  const held = await token('60').text();

  expect(await ask('meta-data/instance-id', held)).toEqual([200, instance.id]);
  expect(await ask('meta-data/ami-launch-index', held)).toEqual([200, '1']);
  expect(await ask('meta-data/placement/region', held)).toEqual([200, 'us-west-2']);
  expect(await ask('meta-data/tags/instance/muster:pool', held)).toEqual([200, 'p1']);
  expect(await ask('meta-data/tags/instance/', held)).toEqual([200, expect.stringContaining('muster:pool')]);
  expect(await ask('user-data', held)).toEqual([200, '#!/bin/sh\n']);
  expect((await ask('meta-data/no', held))[0]).toBe(404);
});

test('the notice of an interruption is there only when there is one', async () => {
  const { token, ask, instance, fake, clock } = await openMachine();
  const held = await token('600').text();

  expect((await ask('meta-data/spot/instance-action', held))[0]).toBe(404);
  fake.interrupt(instance.id);
  const [status, notice] = await ask('meta-data/spot/instance-action', held);

  expect(status).toBe(200);
  expect(JSON.parse(notice)).toEqual({
    action: 'terminate',
    time: new Date(clock.now() + 120_000).toISOString().replace('.000Z', 'Z'),
  });
});
