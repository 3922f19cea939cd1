import { describe, expect, test } from 'vitest';
import { openScene, PODS, type Scene } from '../testing.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const ACCOUNT = 'system:serviceaccount:velda:velda-apiserver';

async function bound(scene: Scene, rules: object[], namespace?: string): Promise<void> {
  const place = namespace === undefined ? `${RBAC}/cluster` : `${RBAC}/namespaces/${namespace}/`;
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  await scene.post(`${place}roles`, { metadata: { name: 'r' }, rules });
  await scene.post(`${place}rolebindings`, {
    metadata: { name: 'b' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: 'r' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'velda', name: 'velda-apiserver' }],
  });
}

const LIST_PODS = [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }];

async function canI(scene: Scene, verb: string, resource: string, namespace = ''): Promise<unknown> {
  const { body } = await scene.call(
    'POST',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    { spec: { resourceAttributes: { verb, resource, group: '', namespace } } },
    { 'impersonate-user': ACCOUNT },
  );
  return (body.status as { allowed: boolean }).allowed;
}

describe('access', () => {
  test('without a rule is refused with verb, resource and namespace', async () => {
    const scene = openScene();
    const token = scene.fake.users.issue(ACCOUNT);

    const { body } = await scene.get(PODS, { authorization: `Bearer ${token}` });

    expect(body).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: `pods is forbidden: User "${ACCOUNT}" cannot list resource "pods" in API group "" in the namespace "default"`,
    });
  });

  test('by a cluster role holds everywhere, by a role in its namespace', async () => {
    const everywhere = openScene();
    await bound(everywhere, LIST_PODS);
    const inside = openScene();
    await bound(inside, LIST_PODS, 'default');

    expect([await canI(everywhere, 'list', 'pods'), await canI(everywhere, 'list', 'pods', 'default')]).toEqual([
      true,
      true,
    ]);
    expect([await canI(inside, 'list', 'pods'), await canI(inside, 'list', 'pods', 'default')]).toEqual([false, true]);
    expect(await canI(inside, 'watch', 'pods', 'default')).toBe(false);
  });

  test('to a subresource is not access to its object', async () => {
    const scene = openScene();
    await bound(scene, [{ apiGroups: [''], resources: ['pods/status'], verbs: ['*'] }]);

    const attributes = { verb: 'patch', resource: 'pods', subresource: 'status', group: '', namespace: 'default' };
    const { body } = await scene.call(
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      { spec: { resourceAttributes: attributes } },
      { 'impersonate-user': ACCOUNT },
    );

    expect(body.status).toEqual({ allowed: true });
    expect(await canI(scene, 'patch', 'pods', 'default')).toBe(false);
  });
});

describe('a token', () => {
  test('is refused once its time is over, and so is one that is unknown', async () => {
    const { fake, get, clock } = openScene();
    const token = fake.users.issue('kubernetes-admin', 60_000);
    const ask = async (shown: string): Promise<number> =>
      (await get(PODS, { authorization: `Bearer ${shown}` })).status;

    expect(await ask(token)).toBe(200);
    await clock.advance(60_000);
    expect([await ask(token), await ask('other')]).toEqual([401, 401]);
  });

  test('is needed where no one is admitted without', async () => {
    const { fake, get } = openScene();
    fake.users.admitsAnyone = false;

    expect((await get(PODS)).body).toMatchObject({ code: 401, reason: 'Unauthorized' });
  });

  test('can be asked for a service account, for a time', async () => {
    const { post, get, clock } = openScene();

    const { status, body } = await post('/api/v1/namespaces/default/serviceaccounts/default/token', {
      spec: { expirationSeconds: 600 },
    });
    const { token, expirationTimestamp } = body.status as Record<string, string>;
    const ask = async (): Promise<number> =>
      (await get('/api/v1/namespaces', { authorization: `Bearer ${token}` })).status;

    expect(status).toBe(201);
    expect(expirationTimestamp).toBe('2026-01-01T00:10:00Z');
    expect(await ask()).toBe(403);
    await clock.advance(600_000);
    expect(await ask()).toBe(401);
  });
});
