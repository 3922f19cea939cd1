import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Context } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { openKube } from '#kube/client.ts';
import { type Right, renderRights, rightName, rulesOf } from '#kube/rights.ts';
import { readCall } from '../providers/kubernetes/fake/wire/read-call.ts';
import type { KubeScene } from '../providers/kubernetes/testing.ts';
import { releaseNodes } from './release.ts';
import { NODE_RELEASE_RIGHTS, NODE_RIGHTS } from './rights.ts';
import { type NodesScene, openNodesScene } from './testing/scene.ts';

const ACCOUNT = 'system:serviceaccount:velda:velda-apiserver';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const SPEC = { existingInstanceGroupNames: ['grp'], minGPUUtilizationPercent: 80 };

async function grant({ kubectl }: KubeScene, rights: readonly Right[]): Promise<void> {
  await kubectl('POST', `${RBAC}/clusterroles`, { metadata: { name: 'nodes' }, rules: rulesOf(rights) });
  await kubectl('POST', `${RBAC}/clusterrolebindings`, {
    metadata: { name: 'nodes' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'nodes' },
    subjects: [{ kind: 'User', name: ACCOUNT }],
  });
}

/** Calls under the token of that account, each of which is recorded. */
function recordedCalls(kube: KubeScene) {
  const made = new Set<string>();
  const refused: string[] = [];
  const token = kube.fake.users.issue(ACCOUNT);
  const access = {
    id: 'cluster.test',
    server: 'http://cluster.test',
    credential: async () => ({ headers: { authorization: `Bearer ${token}` }, tls: {} }),
  };
  const recording: typeof fetch = async (input, init) => {
    const { verb, target } = await readCall(new Request(input, init));
    const name = target?.group ? `${target.plural}.${target.group}` : target?.plural;
    const call = `${verb} ${[name, target?.subresource].filter(Boolean).join('/')}`;
    made.add(call);
    const response = await kube.fake.fetch(input, init);
    if (response.status === 403) refused.push(call);
    return response;
  };
  const context: Context = { ...kube.contextFor(), fetchWith: () => recording, clusterAt: async () => access };
  return { made, refused, context, access, fetch: recording };
}

/** A server whose account has these rights alone. */
async function withRights(rights: readonly Right[]) {
  let calls: ReturnType<typeof recordedCalls> | undefined;
  const scene = await openNodesScene({
    contextOf(kube) {
      calls = recordedCalls(kube);
      return calls.context;
    },
  });
  await grant(scene, rights);
  const group = scene.cloud.addGroup('grp', 'zone-a');
  scene.fill(group, 3);
  // What the server was refused before counts for nothing.
  await scene.clock.advance(20 * SECOND_MS);
  const seen = calls ?? expect.fail();
  seen.refused.length = 0;
  return { scene, calls: seen };
}

const grantedBy = (rights: readonly Right[]): string[] =>
  rights.flatMap((right) => right.verbs.map((verb) => `${verb} ${rightName(right)}`)).toSorted();

const readyOf = (scene: NodesScene) =>
  (scene.status('h100').conditions as { type: string; reason: string; message: string }[]).find(
    ({ type }) => type === 'Ready',
  );

describe('the rights for nodes', () => {
  it('are exactly those that its code uses, from a growth to a deletion', async () => {
    const { scene, calls } = await withRights(NODE_RIGHTS);
    await scene.addPod('busy', 8, { on: scene.nodeNames()[0] ?? '' });
    // Somebody else writes the node between our reading and our writing.
    scene.fake.failureRules.add({ action: 'patch nodes', what: { kind: 'error', status: 409, code: 'Conflict' } });
    await scene.define('h100', SPEC);
    await scene.clock.advance(15 * MINUTE_MS);
    for (const at of [1, 2]) await scene.addPod(`p${at}`, 8);
    await scene.clock.advance(2 * MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(3);
    // A machine that ends soon: its pod is moved.
    const [group = expect.fail()] = scene.cloud.groups.values();
    scene.fill(group, 1, 2 * MINUTE_MS);
    await scene.deploy('web', 1, 8);
    await scene.clock.advance(1.8 * MINUTE_MS);

    expect(calls.refused).toEqual([]);
    expect([...calls.made].toSorted()).toEqual(grantedBy(NODE_RIGHTS));
    await scene.stop();
  });

  it.each(NODE_RIGHTS.filter(({ resource, verbs }) => resource.kind !== 'NodeProvisioner' && verbs.includes('list')))(
    'to $resource.plural are named in a condition where they are missing',
    async (missing) => {
      const { scene } = await withRights(NODE_RIGHTS.filter((right) => right !== missing));
      await scene.define('h100', SPEC);
      await scene.clock.advance(30 * SECOND_MS);

      const { plural, group } = missing.resource;
      const rule = `{apiGroups: ["${group}"], resources: ["${plural}"], verbs: ["list"]}`;
      expect(readyOf(scene)).toMatchObject({ status: 'False', reason: 'RightMissing' });
      expect(readyOf(scene)?.message).toContain(`Add this rule to its ClusterRole: ${rule}.`);
      expect(scene.nodes.list()).toMatchObject([{ isReady: false, reason: 'RightMissing' }]);
      await scene.stop();
    },
  );

  it('to write nodes are named once a node is to be tainted', async () => {
    const readOnly = NODE_RIGHTS.map((right) =>
      right.resource.plural === 'nodes' ? { ...right, verbs: ['get', 'list', 'watch'] } : right,
    );
    const { scene } = await withRights(readOnly);
    await scene.define('h100', SPEC);
    await scene.clock.advance(MINUTE_MS);

    expect(readyOf(scene)?.message).toContain('resources: ["nodes"], verbs: ["patch"]');
    expect(scene.tainted()).toEqual([]);
    await scene.stop();
  });

  it('to read NodeProvisioners are named to the caller that lists them', async () => {
    const { scene } = await withRights(NODE_RIGHTS.filter(({ resource }) => resource.kind !== 'NodeProvisioner'));
    await scene.clock.advance(10 * SECOND_MS);

    expect(scene.nodes.fault()).toMatchObject({
      kind: 'denied',
      remedy: expect.stringContaining('resources: ["nodeprovisioners"], verbs: ["list"]'),
    });
    await scene.stop();
  });
});

describe('leaving the cluster', () => {
  it('takes our taints off nodes and the objects from this Muster, with no more rights than those of its own list', async () => {
    const scene = await openNodesScene();
    scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 3);
    await scene.addPod('busy', 8, { on: scene.nodeNames()[0] ?? '' });
    await scene.define('h100', SPEC);
    await scene.clock.advance(MINUTE_MS);
    expect(scene.tainted()).toHaveLength(2);
    await scene.stop();
    await grant(scene, NODE_RELEASE_RIGHTS);
    const { made, refused, access, fetch } = recordedCalls(scene);
    const kube = openKube({ access, clock: scene.clock, fetchWith: () => fetch });
    scene.fake.failureRules.add({ action: 'patch nodes', what: { kind: 'error', status: 409, code: 'Conflict' } });

    const released = await scene.during(releaseNodes(kube, going()));
    const again = await scene.during(releaseNodes(kube, going()));

    expect(released).toHaveLength(3);
    expect(released).toContain('nodeprovisioner/h100');
    expect([scene.tainted(), again, refused]).toEqual([[], [], []]);
    expect([...made].toSorted()).toEqual(grantedBy(NODE_RELEASE_RIGHTS));
  });
});

describe('the table of rights in the guide', () => {
  it('is the one that is granted', () => {
    const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/nodes.md'), 'utf8');

    expect(guide).toContain(renderRights(NODE_RIGHTS));
  });
});
