import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { Context } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { going } from '#core/testing/going.ts';
import { until } from '#core/testing/until.ts';
import { aBatch } from '../../../conformance/scene.ts';
import { openUnary } from '../../../edge/unary.ts';
import { InstanceConfig } from '../config.ts';
import { openInstances } from '../instance/backend.ts';
import simulation from './simulation.ts';

test('an instance of the simulated Nebius is made by real gRPC and runs its commands; nothing stays when it ends', async () => {
  const running = await simulation.start({ port: 0, clock: systemClock, random: systemRandom });
  const context: Context = {
    cluster: 'cluster1',
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    fetch,
    unary: openUnary(),
    shared: openShared(),
    dataDir: '/nowhere',
    agentCommand: [],
    variable: (name) => running.environment[name],
  };
  const config = InstanceConfig.parse({
    parentId: 'project-abc123',
    subnetId: 'vpcsubnet-xyz',
    platform: 'cpu-d3',
    resourcePreset: '4vcpu-16gb',
    additionalRuncmds: ['touch "$MUSTER_ROOT/ran"'],
  });
  const backend = await openInstances(config, context);
  const outcomes = await backend.create(aBatch(1), going());
  await until('it is listed as running', async () => (await backend.list(going()))[0]?.state === 'running');
  const [machine] = await backend.list(going());
  const ran = join(running.folder, machine?.id ?? '', 'root', 'ran');
  await until('it has run', async () => existsSync(ran));
  const wrong = { ...config, resourcePreset: '4vcpu-61gb' };
  const [refused] = await (await openInstances(wrong, context)).create(aBatch(1, 'launch2', 'pool2'), going());

  expect(outcomes).toEqual(aBatch(1).names.map((name) => ({ name, operation: expect.any(String) })));
  expect(refused?.fault).toMatchObject({ kind: 'invalid', remedy: expect.stringContaining('"4vcpu-16gb"') });
  expect(refused?.fault?.message).toContain('spec.resources.preset: unknown preset "4vcpu-61gb"');
  await running.close();
  expect(existsSync(running.folder)).toBe(false);
});
