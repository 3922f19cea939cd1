import { describe, expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { openKube } from '#kube/client.ts';
import { ruleResource, rulesOf } from '#kube/rights.ts';
import { AGENT_POD, installCrd, type KubeScene, openKubeScene } from '../testing.ts';
import { RELEASE_RIGHTS, releaseAgentPools } from './release.ts';

const OTHER = 'example.com/keep';
const SERVER = { namespace: 'velda', name: 'velda-apiserver' };
const PODS = '/api/v1/namespaces/velda/pods';

function clientOf({ clock, fake }: KubeScene, token?: string) {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const access = { id: 'c', server: 'http://cluster.test', credential: async () => ({ headers, tls: {} }) };
  return { clock, kube: openKube({ access, clock, fetchWith: () => fake.fetch }) };
}

async function addPool(scene: KubeScene, namespace: string, name: string, finalizers: string[]): Promise<void> {
  const spec = { autoscaler: { maxReplicas: 1, minIdle: 0, maxIdle: 0 }, template: AGENT_POD };
  await scene.kubectl('POST', `/apis/velda.io/v1/namespaces/${namespace}/agentpools`, {
    apiVersion: 'velda.io/v1',
    kind: 'AgentPool',
    metadata: { name, namespace, finalizers },
    spec,
  });
}

async function withPools(): Promise<KubeScene> {
  const scene = openKubeScene();
  await installCrd(scene);
  await scene.kubectl('POST', '/api/v1/namespaces', { metadata: { name: 'velda' } });
  await addPool(scene, 'default', 'ours', ['muster.io/drain-cluster1', OTHER]);
  await addPool(scene, 'velda', 'ours-too', ['muster.io/drain-cluster1']);
  await addPool(scene, 'default', 'free', []);
  return scene;
}

const finalizersIn = ({ fake }: KubeScene) =>
  Object.fromEntries(
    fake.objects('agentpools.velda.io').map(({ metadata }) => [metadata.name, metadata.finalizers ?? []]),
  );

async function addServer(scene: KubeScene): Promise<void> {
  const labels = { app: 'velda-apiserver' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'server', image: 'muster/server:1' }] } };
  await scene.kubectl('POST', '/apis/apps/v1/namespaces/velda/deployments', {
    metadata: { name: 'velda-apiserver', namespace: 'velda' },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  });
  // It belongs to something that does not stop it.
  const slow = await scene.kubectl('POST', '/api/v1/namespaces/velda/configmaps', { metadata: { name: 'slow' } });
  const { uid } = slow.metadata as { uid: string };
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'slow', uid }];
  await scene.kubectl('POST', PODS, { metadata: { name: 'server-1', labels, ownerReferences }, spec: template.spec });
}

describe('releasing AgentPools', () => {
  it('removes our finalizer and leaves those of others, in all namespaces', async () => {
    const scene = await withPools();

    const released = await scene.during(releaseAgentPools(clientOf(scene), {}, going()));

    expect(released.toSorted()).toEqual(['default/ours', 'velda/ours-too']);
    expect(finalizersIn(scene)).toEqual({ ours: [OTHER], 'ours-too': [], free: [] });
    expect(await scene.during(releaseAgentPools(clientOf(scene), {}, going()))).toEqual([]);
  });

  it('keeps to one namespace where one is named', async () => {
    const scene = await withPools();

    await scene.during(releaseAgentPools(clientOf(scene), { namespaces: ['velda'] }, going()));

    expect(finalizersIn(scene)).toMatchObject({ ours: ['muster.io/drain-cluster1', OTHER], 'ours-too': [] });
  });

  it('lets deleted objects go that waited for us', async () => {
    const scene = await withPools();
    await scene.kubectl('DELETE', '/apis/velda.io/v1/namespaces/velda/agentpools/ours-too');

    await scene.during(releaseAgentPools(clientOf(scene), {}, going()));

    expect(scene.fake.object('agentpools.velda.io', 'velda', 'ours-too')).toBeUndefined();
  });

  it('has nothing to do where the CRD is not installed', async () => {
    const scene = openKubeScene();

    expect(await scene.during(releaseAgentPools(clientOf(scene), {}, going()))).toEqual([]);
  });

  it('first stops the server and waits for its pods, which would set the finalizer again', async () => {
    const scene = await withPools();
    await addServer(scene);
    let isDone = false;

    const releasing = releaseAgentPools(clientOf(scene), { server: SERVER }, going()).then(() => {
      isDone = true;
    });
    await scene.clock.advance(5_000);
    const whileItRuns = [isDone, finalizersIn(scene)['ours-too']];
    await scene.kubectl('DELETE', `${PODS}/server-1`, { gracePeriodSeconds: 0 });
    await scene.during(releasing);

    expect(whileItRuns).toEqual([false, ['muster.io/drain-cluster1']]);
    expect(scene.fake.object('deployments.apps', 'velda', 'velda-apiserver')).toMatchObject({ spec: { replicas: 0 } });
    expect(finalizersIn(scene)).toMatchObject({ ours: [OTHER], 'ours-too': [] });
  });

  it('needs no more rights than those of its own list', async () => {
    const scene = await withPools();
    await addServer(scene);
    const user = 'system:serviceaccount:velda:release';
    const rules = [...rulesOf(RELEASE_RIGHTS.pools), ...rulesOf(RELEASE_RIGHTS.server)];
    const roles = '/apis/rbac.authorization.k8s.io/v1/cluster';
    await scene.kubectl('POST', `${roles}roles`, { metadata: { name: 'release' }, rules });
    await scene.kubectl('POST', `${roles}rolebindings`, {
      metadata: { name: 'release' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'release' },
      subjects: [{ kind: 'User', name: user }],
    });
    await scene.kubectl('DELETE', `${PODS}/server-1`, { gracePeriodSeconds: 0 });
    await scene.clock.advance(60_000);
    const before = scene.fake.calls.length;
    // The object changes between our reading and our writing.
    scene.fake.failureRules.add({ action: 'patch agentpools', what: { kind: 'error', status: 422, code: 'Invalid' } });

    const client = clientOf(scene, scene.fake.users.issue(user));
    await scene.during(releaseAgentPools(client, { server: SERVER }, going()));

    const all = [...RELEASE_RIGHTS.pools, ...RELEASE_RIGHTS.server];
    const granted = all.flatMap((right) => right.verbs.map((verb) => `${verb} ${ruleResource(right)}`));
    const made = new Set(scene.fake.calls.slice(before).map(({ action }) => action));
    expect([...made].toSorted()).toEqual(granted.toSorted());
    expect(finalizersIn(scene)).toMatchObject({ ours: [OTHER], 'ours-too': [] });
  });

  it('gives up on a server that does not stop, and releases nothing', async () => {
    const scene = await withPools();
    await addServer(scene);

    const releasing = releaseAgentPools(clientOf(scene), { server: SERVER }, going());

    await expect(scene.during(releasing)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(finalizersIn(scene)).toMatchObject({ ours: ['muster.io/drain-cluster1', OTHER] });
  });
});
