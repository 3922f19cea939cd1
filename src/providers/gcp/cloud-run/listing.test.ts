import { describe, expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { aLaunchWith } from '../../../conformance/backend-world.ts';
import { aBatch, createdBy } from '../../../conformance/scene.ts';
import { openRunScene } from '../fake/run/testing/scene.ts';
import type { Service } from './api.ts';
import { machineOf } from './machine.ts';

const LABELS = { 'muster-cluster': 'c', 'muster-computer': 'o', 'muster-shape': 's', 'muster-port': '8000' };
const SERVICE: Service = {
  name: 'projects/p/locations/r/services/c-dev-1',
  uid: 'u1',
  labels: LABELS,
  createTime: '2026-01-01T00:00:00Z',
  uri: 'https://c-dev-1-abc-uc.a.run.app',
  terminalCondition: { type: 'Ready', state: 'CONDITION_SUCCEEDED' },
};
const FAILED = { state: 'CONDITION_FAILED', message: "Image 'a' not found.", reason: 'CONTAINER_MISSING' };

describe('a service is a machine', () => {
  it.each<readonly [string, Partial<Service>, object]>([
    ['running once it is ready, at its URL', {}, { state: 'running', endpoints: [{ port: 443, scheme: 'https' }] }],
    ['without an endpoint where its launch had no port', { labels: { ...LABELS, 'muster-port': '' } }, {}],
    [
      'being made while Cloud Run works on it, also after a failure',
      { reconciling: true, terminalCondition: FAILED, conditions: [FAILED] },
      { state: 'creating', trouble: { kind: 'missing', final: false } },
    ],
    ['being made before it has a condition', { terminalCondition: undefined as never }, { state: 'creating' }],
    [
      'failed for good when Cloud Run has given up',
      { terminalCondition: FAILED },
      { state: 'failed', trouble: { kind: 'missing', reason: 'CONTAINER_MISSING', final: true } },
    ],
    ['on its way out from the call to delete it', { deleteTime: '2026-01-01T00:00:01Z' }, { state: 'deleting' }],
  ])('%s', (_what, changes, expected) => {
    const machine = machineOf({ ...SERVICE, ...changes });

    expect(machine).toMatchObject({ name: 'c-dev-1', id: 'u1', mark: { use: 'computer' }, ...expected });
    if (!('endpoints' in expected)) expect(machine?.endpoints).toBeUndefined();
  });

  it('never where it lacks a part of our mark', () => {
    expect(machineOf({ ...SERVICE, labels: { 'muster-cluster': 'c', 'muster-computer': 'o' } })).toBeUndefined();
  });
});

it('a region that does not answer fails the listing: its machines are not taken for gone', async () => {
  const scene = openRunScene();
  await createdBy(scene, await scene.open(), aBatch(1));
  const context = scene.contextFor();
  const silent: typeof fetch = async (input, init) => {
    const answer = await context.fetch(input, init);
    return String(input).includes('/services?') ? Response.json({ unreachable: ['us-central1'] }) : answer;
  };
  const backend = await scene.open({}, { ...context, fetch: silent });

  await expect(scene.during(backend.list(going()))).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('us-central1'),
  });
});

describe('a removal', () => {
  it('that meets a service that has changed meanwhile reads it again, and gives up after three tries', async () => {
    const scene = openRunScene();
    const backend = await scene.open();
    await createdBy(scene, backend, aLaunchWith({}, 'm-dev-c1-0123456789'));
    const machines = await scene.during(backend.list(going()));
    const what = { kind: 'error', code: 'ABORTED', status: 409 } as const;
    const action = 'run.services.delete';
    scene.fake.failureRules.add({ action, times: 3, what });
    const [refused] = await scene.during(backend.delete(machines, going()));
    scene.fake.failureRules.add({ action, times: 2, what });
    const [removed] = await scene.during(backend.delete(machines, going()));
    await scene.clock.advance(5_000);

    expect([refused?.fault?.kind, removed?.fault]).toEqual(['conflict', undefined]);
    expect(await scene.during(backend.list(going()))).toEqual([]);
  });

  it('is refused by Cloud Run where the service is not the one that was read', async () => {
    const scene = openRunScene({ bootMs: 60_000 });
    const backend = await scene.open();
    await scene.during(backend.create(aBatch(1), going()));
    const [call] = [scene.fake.calls.find(({ action }) => action === 'run.services.create')];
    const token = scene.fake.world.granted.give('somebody');
    const answer = await scene.fake.fetch(
      `https://run.googleapis.com${call?.path}/${call?.query.serviceId}?etag=another`,
      { method: 'DELETE', headers: { authorization: `Bearer ${token}` } },
    );

    expect(answer.status).toBe(409);
    expect(scene.run.services[0]?.deletedAtMs).toBeUndefined();
  });
});
