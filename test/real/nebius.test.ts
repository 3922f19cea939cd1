import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { listenGrpc } from '#fakes/listen-grpc.ts';
import { openUnary } from '../../src/edge/unary.ts';
import { InstanceConfig } from '../../src/providers/nebius/config.ts';
import { openFakeNebius } from '../../src/providers/nebius/fake/cloud.ts';
import { openInstances } from '../../src/providers/nebius/instance/backend.ts';
import { makeOurs, OUR_MARK, OUR_NAME, realContext } from './parts/made-by-muster.ts';
import { needed } from './parts/part.ts';
import { pythonPrograms } from './parts/python.ts';
import { complaintOf, run } from './parts/run.ts';

const DRIVE = join(import.meta.dirname, 'parts', 'drive-nebius.py');

test("Nebius's own client exchanges a key, makes, lists, stops, starts and deletes instances of the simulated one", async (context) => {
  const { program } = needed(context, await pythonPrograms());
  const fake = openFakeNebius({ clock: systemClock, bootMs: 600, lagMs: 300 });
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  fake.tokens.addKey('publickey-1', 'serviceaccount-1', publicKey);
  // For two that are made and one that is started again; the next has no room.
  fake.stock.set('gpu-h200-sxm', 3);
  const listener = await listenGrpc(0, fake.handle);
  const config = InstanceConfig.parse({
    parentId: 'folder-abc123',
    subnetId: 'subnet-xyz',
    platform: 'gpu-l40s-a',
    resourcePreset: '1gpu-8vcpu-32gb',
    preemptible: true,
    iamToken: 'simulated',
    endpoint: `http://127.0.0.1:${listener.port}`,
  });
  await makeOurs(await openInstances(config, realContext({ unary: openUnary() })));
  const folder = mkdtempSync(join(tmpdir(), 'nebius-'));
  context.onTestFinished(async () => {
    await listener.close();
    rmSync(folder, { recursive: true });
  });
  const subject = { alg: 'RS256', 'private-key': privateKey, kid: 'publickey-1' };
  const file = join(folder, 'key.json');
  const account = { iss: 'serviceaccount-1', sub: 'serviceaccount-1' };
  writeFileSync(file, JSON.stringify({ 'subject-credentials': { ...subject, ...account } }));

  const ran = await run(program('python'), [DRIVE, `127.0.0.1:${listener.port}`, file, OUR_NAME], {
    env: { ...process.env } as Record<string, string>,
  });

  expect(ran.code, complaintOf(ran)).toBe(0);
  expect(JSON.parse(ran.out)).toEqual({
    platforms: ['cpu-d3', 'gpu-h100-sxm', 'gpu-h200-sxm', 'gpu-l40s-a'],
    image: 'computeimage-ubuntu24.04-cuda13.0',
    made: ['ref-1', 'RUNNING', { referee: 'yes' }, true],
    batch: ['error', 'instance', 'instance'],
    listed: [OUR_NAME, 'ref-1', 'ref-2'],
    // What we send means to Nebius's client what we mean.
    ours: {
      labels: expect.objectContaining({ 'muster-cluster': OUR_MARK.cluster, 'muster-shape': OUR_MARK.shape }),
      preset: '1gpu-8vcpu-32gb',
      subnet: 'subnet-xyz',
      disk: 'NETWORK_SSD',
      preemption: 'STOP',
      hostname: OUR_NAME,
    },
    badSubnet: ['NOT_FOUND', 'ResourceNotFound', 'resource_not_found'],
    badImage: ['NOT_FOUND', 'ResourceNotFound', 'resource_not_found'],
    badProject: ['PERMISSION_DENIED', 'PermissionDenied', 'permission_denied'],
    wrongToken: ['UNAUTHENTICATED', 'Unauthenticated', null],
    states: ['STOPPED', 'RUNNING'],
    badPreset: ['INVALID_ARGUMENT', 'BadRequest', 'bad_request'],
    twice: ['ALREADY_EXISTS', 'ResourceAlreadyExists', 'resource_already_exists'],
    late: ['RESOURCE_EXHAUSTED', 'NotEnoughResources', 'not_enough_resources'],
    gone: ['NOT_FOUND', 'ResourceNotFound', 'resource_not_found'],
  });
});
