import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RuntimeRequest } from '#core/runtime-host.ts';
import { going } from '#core/testing/going.ts';
import { renderRights, rightName, rulesOf } from '#kube/rights.ts';
import { readCall } from '../fake/wire/read-call.ts';
import { RUNTIME_RIGHTS } from './rights.ts';
import { openRuntimeScene, type RuntimeScene, TEXTS } from './testing.ts';

const NAMESPACE = 'cloud-runtime';
const USER = 'system:serviceaccount:velda:runtimes';
const A: RuntimeRequest = { id: 'a', slots: 1, version: '1', annotations: { org: 'acme' }, environment: 'prod' };

async function grantRights({ kubectl }: RuntimeScene): Promise<void> {
  const at = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}`;
  const metadata = { name: 'runtimes', namespace: NAMESPACE };
  await kubectl('POST', `${at}/roles`, { metadata, rules: rulesOf(RUNTIME_RIGHTS) });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'runtimes' };
  const subjects = [{ kind: 'ServiceAccount', name: 'runtimes', namespace: 'velda' }];
  await kubectl('POST', `${at}/rolebindings`, { metadata, roleRef, subjects });
}

/** Records the rights that each call takes: an apply that makes its object takes `create` too. */
function recording(scene: RuntimeScene) {
  const made = new Set<string>();
  const refused: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const { verb, target } = await readCall(new Request(input, init));
    const response = await scene.fake.fetch(input, init);
    // The ping of a runtime is no call to the API server.
    if (!target) return response;
    const name = target.group ? `${target.plural}.${target.group}` : target.plural;
    made.add(`${verb} ${name}`);
    if (verb === 'patch' && response.status === 201) made.add(`create ${name}`);
    if (response.status === 403) refused.push(`${verb} ${name}`);
    return response;
  };
  return { fetch, made, refused };
}

/** One runtime from its first apply to its release, growing on the way. */
async function live(scene: RuntimeScene, fetch: typeof globalThis.fetch): Promise<void> {
  const { clock, during } = scene;
  const token = scene.fake.users.issue(USER);
  const credential = async () => ({ headers: { authorization: `Bearer ${token}` }, tls: {} });
  const access = { id: 'cluster.test', server: 'http://cluster.test', credential };
  const host = await scene.open({ fetchWith: () => fetch, clusterAt: async () => access });
  await during(host.apply(A, going()));
  await during(host.observe(A, going()));
  await clock.advance(10_000);
  const larger = { ...A, slots: 2 };
  for (let tries = 0; tries < 2; tries++) {
    await during(host.apply(larger, going()).catch(() => {}));
    await clock.advance(10_000);
  }
  expect(await during(host.observe(larger, going()))).toMatchObject({ state: 'ready' });
  await during(host.hibernate?.('a', going()) ?? Promise.resolve());
  await clock.advance(10_000);
  expect(await during(host.list(going()))).toEqual(['a']);
  await during(host.release('a', going()));
  await clock.advance(10_000);
  expect(await during(host.observe(larger, going()))).toEqual({ state: 'absent' });
}

test('the rights of the two forms together are exactly those that the code uses', async () => {
  const all = new Set<string>();
  for (const texts of Object.values(TEXTS)) {
    const scene = await openRuntimeScene(texts);
    await grantRights(scene);
    const { fetch, made, refused } = recording(scene);

    await live(scene, fetch);

    expect(refused).toEqual([]);
    for (const call of made) all.add(call);
  }
  const granted = RUNTIME_RIGHTS.flatMap((right) => right.verbs.map((verb) => `${verb} ${rightName(right)}`));
  expect([...all].toSorted()).toEqual(granted.toSorted());
});

test('the table of the guide is the one that is granted', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../../../docs/guides/runtimes.md'), 'utf8');
  expect(guide).toContain(renderRights(RUNTIME_RIGHTS));
});
