import { describe, expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { accessFor } from './access.ts';
import { crusoeAt } from './client.ts';
import { definition } from './fake/definition.gen.ts';
import { CRUSOE_ACTIONS } from './fake/read-call.ts';
import { ACCOUNT, openCrusoeScene } from './fake/testing.ts';
import { signatureOf } from './signature.ts';

describe('requests', () => {
  it('are signed by path, query in order, method and time', () => {
    const signed = {
      method: 'GET',
      path: '/v1/projects/p-1/kubernetes/nodepools/x/vms',
      query: { next_token: 'a b=/+', limit: '50' },
      timestamp: '2026-11-18T20:00:00Z',
    };

    // Computed apart, with Python's hmac and urlencode.
    expect(signatureOf(signed, 'c2VjcmV0LW9mLWNydXNvZQ')).toBe('2vDTWw5DZMj309xLYk3bXMlB3DYQFAhfWAUnZ_PUymU');
  });

  it('are signed anew for each try and each page', async () => {
    const scene = openCrusoeScene({ pageSize: 1 });
    scene.fake.addPool('h100', 3);
    await scene.clock.advance(60_000);
    scene.fake.failureRules.add({ action: 'crusoe.pools.vms', what: { kind: 'slow', ms: 60_000 } });
    const groups = await scene.during(scene.open());
    const group = (await scene.during(groups.find({ names: ['h100'], providerIds: [] }, going()))).get('h100');

    expect(group && 'describe' in group && (await scene.during(group.describe(going()))).instances).toHaveLength(3);
  });

  it('with a wrong secret are refused, with what to correct, and the secret is in no message', async () => {
    const scene = openCrusoeScene();
    const groups = await scene.during(scene.open({ secretKey: 'd3JvbmctcGxhbnRlZA' }));
    const refused = await scene.during(groups.find({ names: ['x'], providerIds: [] }, going())).catch((fault) => fault);

    expect(refused).toMatchObject({ kind: 'unauthenticated', remedy: expect.stringContaining('secret_key') });
    expect(`${refused.message} ${scene.lines.join()}`).not.toContain('d3JvbmctcGxhbnRlZA');
  });
});

describe('the account', () => {
  it('is in the variables that Crusoe itself reads, where the configuration leaves it out', () => {
    const variables: Readonly<Record<string, string>> = {
      CRUSOE_PROJECT_ID: 'p',
      CRUSOE_CLUSTER_ID: 'c',
      CRUSOE_ACCESS_KEY: 'a',
      CRUSOE_SECRET_KEY: 's',
      CRUSOE_API_ENDPOINT: 'https://api.crusoecloud.com/v1alpha5',
    };

    expect(accessFor({}, { variable: (name) => variables[name] })).toEqual({
      projectId: 'p',
      clusterId: 'c',
      accessKey: 'a',
      secretKey: 's',
      base: 'https://api.cloud.crusoe.ai/v1',
    });
  });

  it('is refused without a key, with where to set it', () => {
    expect(() => accessFor({ ...ACCOUNT, accessKey: '' }, {})).toThrow(
      expect.objectContaining({ kind: 'unauthenticated', remedy: expect.stringContaining('CRUSOE_ACCESS_KEY') }),
    );
  });
});

it('every action of the fake has a definition of what is sent and of what is answered', () => {
  const missing = CRUSOE_ACTIONS.flatMap(([, , name]) =>
    [name, `${name} answer`].filter((method) => !definition.methods[method]),
  );

  expect(missing).toEqual([]);
});

it('the fake refuses fields that Crusoe does not know', async () => {
  const scene = openCrusoeScene();
  const pool = scene.fake.addPool('h100', 1);
  const crusoe = crusoeAt(accessFor(ACCOUNT, {}), scene.contextFor());
  const path = `/kubernetes/nodepools/${pool.id}`;
  const sent = crusoe.ask({ method: 'PATCH', path, body: { action: 'UPDATE', size: 3 } }, going());

  await expect(scene.during(sent)).rejects.toMatchObject({ kind: 'invalid', message: expect.stringContaining('size') });
});
