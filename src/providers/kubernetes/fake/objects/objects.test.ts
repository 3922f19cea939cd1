import { describe, expect, test } from 'vitest';
import { aConfigMap, CONFIG_MAPS, openScene } from '../testing.ts';

describe('an object', () => {
  test('gets a uid, a time and a revision, and is read back', async () => {
    const { post, get } = openScene();

    const { status, body } = await post(CONFIG_MAPS, aConfigMap('a', { key: 'value' }));
    const read = await get(`${CONFIG_MAPS}/a`);

    expect(status).toBe(201);
    expect(body.metadata).toMatchObject({ namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' });
    expect(body.metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(read.body).toEqual(body);
  });

  test('that exists is not made again', async () => {
    const { post } = openScene();
    await post(CONFIG_MAPS, aConfigMap('a'));

    const { status, body } = await post(CONFIG_MAPS, aConfigMap('a'));

    expect(status).toBe(409);
    expect(body).toMatchObject({
      kind: 'Status',
      status: 'Failure',
      reason: 'AlreadyExists',
      message: 'configmaps "a" already exists',
      details: { name: 'a', kind: 'configmaps' },
      code: 409,
    });
  });

  test('that is not there is refused in the words of the API server', async () => {
    const { get, post } = openScene();

    expect((await get(`${CONFIG_MAPS}/a`)).body).toMatchObject({
      code: 404,
      reason: 'NotFound',
      message: 'configmaps "a" not found',
    });
    expect((await post('/api/v1/namespaces/none/configmaps', aConfigMap('a'))).body).toMatchObject({
      code: 404,
      message: 'namespaces "none" not found',
    });
    expect((await get('/apis/velda.io/v1/agentpools')).body).toMatchObject({
      code: 404,
      message: 'the server could not find the requested resource',
    });
  });

  test('is replaced only from its last revision, and a write that changes nothing makes none', async () => {
    const { post, call } = openScene();
    const { body } = await post(CONFIG_MAPS, aConfigMap('a', { key: '1' }));

    const changed = await call('PUT', `${CONFIG_MAPS}/a`, { ...body, data: { key: '2' } });
    const stale = await call('PUT', `${CONFIG_MAPS}/a`, { ...body, data: { key: '3' } });
    const same = await call('PUT', `${CONFIG_MAPS}/a`, changed.body);

    expect(Number(changed.body.metadata.resourceVersion)).toBeGreaterThan(Number(body.metadata.resourceVersion));
    expect(stale.body).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    });
    expect(same.body.metadata.resourceVersion).toBe(changed.body.metadata.resourceVersion);
  });

  test('is deleted only with the uid that the caller means', async () => {
    const { post, remove, get } = openScene();
    await post(CONFIG_MAPS, aConfigMap('a'));

    const refused = await remove(`${CONFIG_MAPS}/a`, { preconditions: { uid: 'other' } });
    const { body } = await get(`${CONFIG_MAPS}/a`);
    const gone = await remove(`${CONFIG_MAPS}/a`, { preconditions: { uid: body.metadata.uid } });

    expect(refused.body).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(gone.body).toMatchObject({ kind: 'Status', status: 'Success', details: { name: 'a' } });
    expect((await get(`${CONFIG_MAPS}/a`)).status).toBe(404);
  });

  test('with finalizers stays until the last has gone, and takes no new one', async () => {
    const { post, remove, patch, get } = openScene();
    const draft = aConfigMap('a') as { metadata: object };
    await post(CONFIG_MAPS, { ...draft, metadata: { ...draft.metadata, finalizers: ['x.io/a'] } });

    const marked = await remove(`${CONFIG_MAPS}/a`);
    const added = await patch(`${CONFIG_MAPS}/a`, { metadata: { finalizers: ['x.io/a', 'x.io/b'] } });
    const there = await get(`${CONFIG_MAPS}/a`);
    await patch(`${CONFIG_MAPS}/a`, { metadata: { finalizers: null } });

    expect(marked.body.metadata.deletionTimestamp).toBe('2026-01-01T00:00:00Z');
    expect(added.body).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(added.body.message).toContain('no new finalizers can be added if the object is being deleted');
    expect(there.status).toBe(200);
    expect((await get(`${CONFIG_MAPS}/a`)).status).toBe(404);
  });

  test('of a dry run is answered and not kept', async () => {
    const { post, get } = openScene();

    const { status } = await post(`${CONFIG_MAPS}?dryRun=All`, aConfigMap('a'));

    expect(status).toBe(201);
    expect((await get(`${CONFIG_MAPS}/a`)).status).toBe(404);
  });
});

describe('a namespace', () => {
  test('goes with all that is in it, and takes nothing new meanwhile', async () => {
    const { post, remove, get, clock } = openScene();
    await post('/api/v1/namespaces', { metadata: { name: 'team' } });
    await post('/api/v1/namespaces/team/configmaps', aConfigMap('a'));

    const { body } = await remove('/api/v1/namespaces/team');
    const late = await post('/api/v1/namespaces/team/configmaps', aConfigMap('b'));
    await clock.advance(1_000);

    expect(body).toMatchObject({ status: { phase: 'Terminating' } });
    expect(late.body).toMatchObject({ code: 403, details: { causes: [{ reason: 'NamespaceTerminating' }] } });
    expect((await get('/api/v1/namespaces/team')).status).toBe(404);
    expect((await get('/api/v1/namespaces/team/configmaps')).body).toMatchObject({ items: [] });
  });

  test('waits for what still has finalizers', async () => {
    const { post, remove, patch, get, clock } = openScene();
    await post('/api/v1/namespaces', { metadata: { name: 'team' } });
    await post('/api/v1/namespaces/team/configmaps', { metadata: { name: 'a', finalizers: ['x.io/a'] } });

    await remove('/api/v1/namespaces/team');
    await clock.advance(60_000);
    const held = await get('/api/v1/namespaces/team');
    await patch('/api/v1/namespaces/team/configmaps/a', { metadata: { finalizers: [] } });
    await clock.advance(1_000);

    expect(held.status).toBe(200);
    expect((await get('/api/v1/namespaces/team')).status).toBe(404);
  });
});

describe('a list', () => {
  const names = ({ body }: { body: unknown }): string[] =>
    (body as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);

  async function five() {
    const scene = openScene();
    for (const [index, name] of ['a', 'b', 'c', 'd', 'e'].entries()) {
      await scene.post(CONFIG_MAPS, aConfigMap(name, {}, { odd: String(index % 2 === 0), own: name }));
    }
    return scene;
  }

  test('comes in pages that show one moment', async () => {
    const { get, remove } = await five();

    const first = await get(`${CONFIG_MAPS}?limit=2`);
    await remove(`${CONFIG_MAPS}/d`);
    const { continue: token, remainingItemCount } = first.body.metadata as unknown as Record<string, string>;
    const second = await get(`${CONFIG_MAPS}?limit=2&continue=${token}`);
    const next = (second.body.metadata as unknown as Record<string, string>).continue;
    const third = await get(`${CONFIG_MAPS}?limit=2&continue=${next}`);

    expect([first, second, third].map(names)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(remainingItemCount).toBe(3);
    expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
    expect(third.body.metadata).not.toHaveProperty('continue');
  });

  test('cannot be continued with a token that is too old', async () => {
    const { get, clock, fake } = await five();
    const { body } = await get(`${CONFIG_MAPS}?limit=2`);
    const path = `${CONFIG_MAPS}?limit=2&continue=${(body.metadata as unknown as Record<string, string>).continue}`;

    await clock.advance(fake.behaviour.tokenLifeMs + 1);

    expect((await get(path)).body).toMatchObject({ code: 410, reason: 'Expired' });
  });

  test.each([
    ['labelSelector=odd=true', ['a', 'c', 'e']],
    ['labelSelector=odd!%3Dtrue', ['b', 'd']],
    ['labelSelector=own in (a,b),odd=true', ['a']],
    ['labelSelector=own notin (a,b)', ['c', 'd', 'e']],
    ['labelSelector=!own', []],
    ['fieldSelector=metadata.name=c', ['c']],
    ['fieldSelector=metadata.name!%3Dc,metadata.namespace=default', ['a', 'b', 'd', 'e']],
  ])('with %s has %j', async (query, expected) => {
    const { get } = await five();

    expect(names(await get(`${CONFIG_MAPS}?${query}`))).toEqual(expected);
  });

  test('of a field that cannot be selected by is refused', async () => {
    const { get } = await five();

    expect((await get(`${CONFIG_MAPS}?fieldSelector=data.x=1`)).body).toMatchObject({
      code: 400,
      message: 'field label not supported: data.x',
    });
  });
});
