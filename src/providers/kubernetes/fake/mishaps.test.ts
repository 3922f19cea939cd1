import { expect, test } from 'vitest';
import { aConfigMap, CONFIG_MAPS, openScene } from './testing.ts';

test('a lost reply leaves the object made and the caller with a broken connection', async () => {
  const { fake, post } = openScene();
  fake.failureRules.add({ action: 'create configmaps', what: { kind: 'lost reply' } });

  await expect(post(CONFIG_MAPS, aConfigMap('a'))).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });

  expect(fake.objects('configmaps', 'default')).toHaveLength(1);
  expect((await post(CONFIG_MAPS, aConfigMap('a'))).body).toMatchObject({ reason: 'AlreadyExists' });
});

test('too many requests are refused with a time to wait', async () => {
  const { fake, get } = openScene();
  fake.failureRules.add({ action: 'list configmaps', what: { kind: 'throttle' } });

  const { status, headers, body } = await get(CONFIG_MAPS);

  expect([status, headers.get('retry-after')]).toEqual([429, '1']);
  expect(body).toMatchObject({ reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } });
});

test('any refusal can be made: unavailable, a conflict on update', async () => {
  const { fake, get, patch, post } = openScene();
  await post(CONFIG_MAPS, aConfigMap('a'));
  fake.failureRules.add({
    action: 'list configmaps',
    what: { kind: 'error', code: 'ServiceUnavailable', status: 503 },
  });
  fake.failureRules.add({ action: 'patch configmaps', what: { kind: 'error', code: 'Conflict', status: 409 } });

  expect((await get(CONFIG_MAPS)).body).toMatchObject({ kind: 'Status', reason: 'ServiceUnavailable', code: 503 });
  expect((await patch(`${CONFIG_MAPS}/a`, { data: { x: '1' } })).body).toMatchObject({ reason: 'Conflict', code: 409 });
  expect(fake.object('configmaps', 'default', 'a')?.data).toEqual({});
});

test('a list that is cut off in its middle breaks while it is read', async () => {
  const { fake, post, get } = openScene();
  await post(CONFIG_MAPS, aConfigMap('a'));
  fake.failureRules.add({ action: 'list configmaps', what: { kind: 'truncated reply' } });

  await expect(get(CONFIG_MAPS)).rejects.toThrow('fetch failed');

  expect((await get(CONFIG_MAPS)).status).toBe(200);
});

test('calls are written down with verb, path, query and outcome', async () => {
  const { fake, get, clock } = openScene();

  await get(`${CONFIG_MAPS}?limit=5`);
  await get(`${CONFIG_MAPS}/none`);

  expect(fake.calls).toMatchObject([
    {
      service: 'configmaps',
      action: 'list configmaps',
      verb: 'list',
      path: CONFIG_MAPS,
      outcome: 'ok',
      atMs: clock.now(),
    },
    { action: 'get configmaps', outcome: 'NotFound' },
  ]);
  expect(fake.calls[0]?.query.get('limit')).toBe('5');
});
