import { describe, expect, test } from 'vitest';
import { aPod, openScene, PODS } from '../testing.ts';
import { humanDuration } from './human-duration.ts';

const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };

describe('a table of pods', () => {
  test('has the columns of kubectl, those of -o wide with a lower priority', async () => {
    const { post, get, clock } = openScene();
    await post(PODS, aPod('p'));
    await clock.advance(5_000);

    const { body } = await get(PODS, TABLE);

    const columns = body.columnDefinitions as { name: string; priority: number }[];
    expect(columns.filter(({ priority }) => priority === 0).map(({ name }) => name)).toEqual([
      'Name',
      'Ready',
      'Status',
      'Restarts',
      'Age',
    ]);
    expect(body.rows).toMatchObject([
      { cells: ['p', '1/1', 'Running', '0', '5s', '10.244.0.3', 'node-1', '<none>', '<none>'] },
    ]);
  });

  test('says what a pod waits for, and that it ends', async () => {
    const { post, get, remove, clock, fake } = openScene();
    fake.kubelet.rules.add({ when: ({ metadata }) => metadata.name === 'a', pullError: 'not found' });
    fake.kubelet.rules.add({ when: ({ metadata }) => metadata.name === 'b', stopMs: Number.POSITIVE_INFINITY });
    for (const name of ['a', 'b', 'c']) await post(PODS, aPod(name));
    fake.kubelet.rules.add({ when: ({ metadata }) => metadata.name === 'd', unschedulable: 'no' });
    await post(PODS, aPod('d'));
    await clock.advance(60_000);
    await remove(`${PODS}/b`);
    fake.disruptions.evict('default', 'c');
    await clock.advance(1);

    const { body } = await get(PODS, TABLE);

    const rows = body.rows as { cells: string[] }[];
    expect(rows.map(({ cells }) => [cells[0], cells[2]])).toEqual([
      ['a', 'ImagePullBackOff'],
      ['b', 'Terminating'],
      ['c', 'Error'],
      ['d', 'Pending'],
    ]);
  });

  test('is followed by rows in a watch', async () => {
    const { post, fake, clock } = openScene();
    const response = await fake.fetch(`http://cluster.test${PODS}?watch=1`, { headers: TABLE });
    await post(PODS, aPod('p'));
    await clock.settle();

    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();

    expect(JSON.parse(new TextDecoder().decode(value))).toMatchObject({
      type: 'ADDED',
      object: { kind: 'Table', rows: [{}] },
    });
    await reader.cancel();
    expect(fake.watches.count()).toBe(0);
  });
});

describe('discovery', () => {
  test('is the same in one answer and in many', async () => {
    const { get } = openScene();
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

    const [core, others] = [await get('/api', { accept }), await get('/apis', { accept })];
    const all = [...(core.body.items as Group[]), ...(others.body.items as Group[])];
    const aggregated = all.flatMap(({ metadata, versions }) =>
      versions.flatMap(({ version, resources }) =>
        resources.map(({ resource }) => `${metadata.name ?? ''}/${version}/${resource}`),
      ),
    );
    const plain = await plainResources(get);

    expect(aggregated.toSorted()).toEqual(plain.toSorted());
    expect(aggregated).toContain('coordination.k8s.io/v1/leases');
    expect(core.headers.get('content-type')).toContain('as=APIGroupDiscoveryList');
  });

  interface Group {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources: readonly { readonly resource: string }[];
    }[];
  }

  async function plainResources(get: ReturnType<typeof openScene>['get']): Promise<string[]> {
    const { body } = await get('/apis');
    const groups = body.groups as { name: string; versions: { version: string }[] }[];
    const places = [
      { group: '', version: 'v1', path: '/api/v1' },
      ...groups.flatMap(({ name, versions }) =>
        versions.map(({ version }) => ({ group: name, version, path: `/apis/${name}/${version}` })),
      ),
    ];
    const found: string[] = [];
    for (const { group, version, path } of places) {
      const list = await get(path);
      const names = (list.body.resources as { name: string }[])
        .map(({ name }) => name)
        .filter((name) => !name.includes('/'));
      found.push(...names.map((name) => `${group}/${version}/${name}`));
    }
    return found;
  }

  test('goes with version and health', async () => {
    const { get } = openScene();

    expect((await get('/version')).body).toMatchObject({ gitVersion: 'v1.32.4' });
    expect((await get('/readyz')).body).toEqual({ text: 'ok' });
    expect((await get('/openapi/v3')).body.paths).toHaveProperty('api/v1');
    expect((await get('/nowhere')).status).toBe(404);
  });
});

test('events are the same in both of their groups', async () => {
  const { post, get } = openScene();
  const path = '/apis/events.k8s.io/v1/namespaces/default/events';
  await post(path, {
    metadata: { name: 'e' },
    regarding: { kind: 'AgentPool', name: 'gpu', uid: 'u1' },
    reason: 'ScaledUp',
    note: 'One more.',
    type: 'Normal',
    reportingController: 'muster',
    eventTime: '2026-01-01T00:00:00.000000Z',
  });

  const older = await get(
    '/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=gpu,involvedObject.uid=u1',
  );
  const newer = await get(`${path}?fieldSelector=regarding.name=gpu`);

  expect(older.body.items).toMatchObject([
    { apiVersion: 'v1', involvedObject: { name: 'gpu' }, message: 'One more.', reportingComponent: 'muster' },
  ]);
  expect(newer.body.items).toMatchObject([
    { apiVersion: 'events.k8s.io/v1', regarding: { name: 'gpu' }, note: 'One more.', reportingController: 'muster' },
  ]);
});

test.each([
  [119_000, '119s'],
  [125_000, '2m5s'],
  [600_000, '10m'],
  [4 * 3_600_000 + 120_000, '4h2m'],
  [50 * 3_600_000, '2d2h'],
  [10 * 86_400_000, '10d'],
])('%i ms are written as %s', (ms, text) => {
  expect(humanDuration(ms)).toBe(text);
});
