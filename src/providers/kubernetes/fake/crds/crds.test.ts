import { describe, expect, test } from 'vitest';
import { openScene, type Scene } from '../testing.ts';
import { anAgentPool, CRDS, POOL_CRD, POOLS } from './testing.ts';

async function withPools(): Promise<Scene> {
  const scene = openScene();
  await scene.post(CRDS, POOL_CRD);
  return scene;
}

describe('a definition', () => {
  test('is established, and its resource is served and discovered', async () => {
    const { get, post } = await withPools();

    const { body } = await get(`${CRDS}/agentpools.velda.io`);
    const made = await post(POOLS, anAgentPool());
    const list = await get('/apis/velda.io/v1');

    expect(body.status?.conditions).toMatchObject([
      { type: 'NamesAccepted', status: 'True' },
      { type: 'Established', status: 'True' },
    ]);
    expect(made.status).toBe(201);
    expect(list.body.resources).toMatchObject([
      { name: 'agentpools', kind: 'AgentPool', shortNames: ['ap'] },
      { name: 'agentpools/status' },
    ]);
  });

  test('is seen to come before it is seen to be established', async () => {
    const { watch, post, clock } = openScene();
    const seen = await watch(`${CRDS}?watch=1`);

    await post(CRDS, POOL_CRD);
    await clock.settle();

    expect(seen.events.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED']);
  });

  test('goes with its objects, after the last finalizer', async () => {
    const { get, post, patch, remove } = await withPools();
    await post(POOLS, anAgentPool('free'));
    const held = anAgentPool('held') as { metadata: object };
    await post(POOLS, { ...held, metadata: { ...held.metadata, finalizers: ['x.io/a'] } });

    await remove(`${CRDS}/agentpools.velda.io`);
    const [free, still] = [await get(`${POOLS}/free`), await get(`${POOLS}/held`)];
    await patch(`${POOLS}/held`, { metadata: { finalizers: [] } });

    expect([free.status, still.status]).toEqual([404, 200]);
    expect((await get(`${CRDS}/agentpools.velda.io`)).status).toBe(404);
    expect((await get(POOLS)).body.message).toBe('the server could not find the requested resource');
  });
});

describe('a custom object', () => {
  test('gets the defaults of its schema and keeps every field of a preserved part', async () => {
    const { post } = await withPools();

    const { body } = await post(POOLS, anAgentPool());

    expect(body.spec).toMatchObject({
      autoscaler: {
        minReplicas: 0,
        maxReplicas: 20,
        idleDecaySecond: 60,
        killUnknownAfterSecond: 300,
        defaultSlotsPerAgent: 1,
      },
      template: { spec: { containers: [{ args: ['--pool=cpu-pool'] }] } },
    });
  });

  test.each([
    [
      { maxReplicas: -1 },
      'spec.autoscaler.maxReplicas: Invalid value: -1: spec.autoscaler.maxReplicas in body should be greater than or equal to 0',
    ],
    [{}, 'spec.autoscaler.maxReplicas: Required value'],
    [
      { maxReplicas: 'many' },
      'spec.autoscaler.maxReplicas: Invalid value: "string": spec.autoscaler.maxReplicas in body must be of type integer: "string"',
    ],
    [
      { maxReplicas: -1, minIdle: -1 },
      '[spec.autoscaler.maxReplicas: Invalid value: -1: spec.autoscaler.maxReplicas in body should be greater than or equal to 0, spec.autoscaler.minIdle: Invalid value: -1: spec.autoscaler.minIdle in body should be greater than or equal to 0]',
    ],
  ])('with the sizes %j is invalid', async (autoscaler, message) => {
    const { post } = await withPools();

    const { body } = await post(POOLS, anAgentPool('p', autoscaler));

    expect(body).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: `AgentPool.velda.io "p" is invalid: ${message}`,
    });
  });

  test('with a value that is not in a list is invalid', async () => {
    const { post, patch } = await withPools();
    await post(POOLS, anAgentPool());

    expect((await patch(`${POOLS}/cpu-pool`, { spec: { updatePolicy: 'Often' } })).body.message).toBe(
      'AgentPool.velda.io "cpu-pool" is invalid: spec.updatePolicy: Unsupported value: "Often": supported values: "Rolling", "OnDelete"',
    );
  });

  test('loses unknown fields with a warning, or is refused where that is asked for', async () => {
    const { post } = await withPools();
    const draft = anAgentPool('p', { maxReplicas: 1, maxReplica: 2 });

    const warned = await post(POOLS, draft);
    const strict = await post(`${POOLS}?fieldValidation=Strict`, draft);

    expect(warned.headers.get('warning')).toBe('299 - "unknown field \\"spec.autoscaler.maxReplica\\""');
    expect(warned.body.spec?.autoscaler).not.toHaveProperty('maxReplica');
    expect(strict.body).toMatchObject({
      code: 400,
      message:
        'AgentPool in version "v1" cannot be handled as a AgentPool: strict decoding error: unknown field "spec.autoscaler.maxReplica"',
    });
  });

  test('counts generations of its specification alone, and has its status apart', async () => {
    const { post, patch } = await withPools();
    await post(POOLS, { ...anAgentPool(), status: { observedGeneration: 7 } });

    const labelled = await patch(`${POOLS}/cpu-pool`, { metadata: { labels: { a: 'b' } } });
    const ignored = await patch(`${POOLS}/cpu-pool`, { status: { observedGeneration: 1 } });
    const status = await patch(`${POOLS}/cpu-pool/status`, {
      status: { observedGeneration: 1 },
      spec: { autoscaler: { maxReplicas: 3 } },
    });
    const changed = await patch(`${POOLS}/cpu-pool`, { spec: { autoscaler: { maxReplicas: 3 } } });

    expect([labelled, ignored, status, changed].map(({ body }) => body.metadata.generation)).toEqual([1, 1, 1, 2]);
    expect(ignored.body.status).toBeUndefined();
    expect(status.body).toMatchObject({
      status: { observedGeneration: 1 },
      spec: { autoscaler: { maxReplicas: 20 } },
    });
    expect(changed.body.status).toEqual({ observedGeneration: 1 });
  });

  test('takes no strategic merge patch, and no PUT without a revision', async () => {
    const { post, patch, call } = await withPools();
    await post(POOLS, anAgentPool());

    expect((await patch(`${POOLS}/cpu-pool`, {}, 'strategic-merge-patch+json')).status).toBe(415);
    expect((await call('PUT', `${POOLS}/cpu-pool`, anAgentPool())).body.message).toContain(
      'metadata.resourceVersion: Invalid value: 0x0: must be specified for an update',
    );
  });

  test('has conditions that several can apply', async () => {
    const { post, apply } = await withPools();
    await post(POOLS, anAgentPool());
    const status = (type: string): object => ({
      apiVersion: 'velda.io/v1',
      kind: 'AgentPool',
      status: { conditions: [{ type, status: 'True' }] },
    });

    await apply(`${POOLS}/cpu-pool/status`, status('Ready'), 'one');
    const { body } = await apply(`${POOLS}/cpu-pool/status`, status('Synced'), 'two');

    expect(body.status?.conditions).toEqual([
      { type: 'Ready', status: 'True' },
      { type: 'Synced', status: 'True' },
    ]);
  });

  test('is shown as a row of the columns of its definition', async () => {
    const { post, patch, get, clock } = await withPools();
    await post(POOLS, anAgentPool());
    await patch(`${POOLS}/cpu-pool/status`, { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    await clock.advance(90_000);

    const { body } = await get(POOLS, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' });

    expect(body).toMatchObject({
      kind: 'Table',
      columnDefinitions: [{ name: 'Name' }, { name: 'Ready' }, { name: 'Max' }, { name: 'Slots', priority: 1 }, {}],
      rows: [{ cells: ['cpu-pool', 'True', 20, 1, '90s'], object: { kind: 'PartialObjectMetadata' } }],
    });
  });
});
