import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { noWorkers } from '#core/pool-counts.ts';
import type { Context, Launch } from '#core/provider.ts';
import type { DocumentReport } from '#core/source.ts';
import { going } from '#core/testing/going.ts';
import { type Right, renderRights, rightName, rulesOf } from '#kube/rights.ts';
import { openAgentPools } from './agent-pool/source.ts';
import { BackendConfig, SourceConfig } from './config.ts';
import { openDeployments } from './deployments/backend.ts';
import { DeploymentConfig } from './deployments/config.ts';
import { readCall } from './fake/wire/read-call.ts';
import { chartRights, rbacFile } from './install/files.ts';
import type { Manifest } from './install/manifest.ts';
import { openPods } from './pods/backend.ts';
import { DEPLOYMENT_RIGHTS, RIGHTS } from './rights.ts';
import { AGENT_POD, CLUSTER, installCrd, type KubeScene, openKubeScene } from './testing.ts';

const ACCOUNT = 'system:serviceaccount:velda:velda-apiserver';
const POOLS = '/apis/velda.io/v1/namespaces/default/agentpools';
const NOTHING = new Map<string, string>();
const CONFIG_MAP_VOLUME = { name: 'velda-config', configMap: { name: 'velda-config' } };

async function applyRights(scene: KubeScene, served: readonly string[], computers = false): Promise<void> {
  const objects = parseAllDocuments(rbacFile({ served, computers })).map((document) => document.toJS() as Manifest);
  for (const object of objects) {
    const { kind, metadata } = object;
    if (!kind.includes('Role')) continue;
    const within = metadata.namespace === undefined ? '' : `namespaces/${metadata.namespace}/`;
    await scene.kubectl('POST', `/apis/rbac.authorization.k8s.io/v1/${within}${kind.toLowerCase()}s`, object);
  }
}

/** What the server sees of the cluster, by the token of its account; every call that it makes is recorded. */
function openServer(scene: KubeScene) {
  const token = scene.fake.users.issue(ACCOUNT);
  const made = new Set<string>();
  const refused: string[] = [];
  const recording: typeof fetch = async (input, init) => {
    const { verb, target } = await readCall(new Request(input, init));
    const name = target?.group ? `${target.plural}.${target.group}` : target?.plural;
    const call = `${verb} ${[name, target?.subresource].filter(Boolean).join('/')}`;
    made.add(call);
    const response = await scene.fake.fetch(input, init);
    if (response.status === 403) refused.push(call);
    return response;
  };
  const given = scene.contextFor();
  const access = {
    id: 'cluster.test',
    server: 'http://cluster.test',
    credential: async () => ({ headers: { authorization: `Bearer ${token}` }, tls: {} }),
  };
  const context: Context = { ...given, fetchWith: () => recording, clusterAt: async () => access };
  return { context, made, refused };
}

/** One pool from its first report to its last, with all that can go wrong on the way. */
async function liveAsSource(scene: KubeScene, context: Context, namespace: string | undefined): Promise<void> {
  const { clock, fake, during, kubectl } = scene;
  const spec = { autoscaler: { maxReplicas: 4, minIdle: 0, maxIdle: 0 }, template: AGENT_POD };
  const metadata = { name: 'gpu', namespace: 'default' };
  await kubectl('POST', POOLS, { apiVersion: 'velda.io/v1', kind: 'AgentPool', metadata, spec });
  const source = await openAgentPools(SourceConfig.parse({ namespace }), context);
  const [document] = await during(source.documents(NOTHING, going()));
  const key = document?.key ?? '';
  const report = (at: number): DocumentReport => ({
    version: document?.version ?? '',
    pool: 'gpu',
    phase: 'active',
    counts: { workers: { total: 0, ...noWorkers() }, slots: { total: 0, free: 0 }, sessions: { queued: 1, placed: 0 } },
    wanted: 1,
    lastAction: { did: 'launch 1', reasons: ['demand'], why: '1 queued', at },
  });
  // Somebody else changes the object between our reading and our writing.
  fake.failureRules.add({ action: 'patch agentpools', what: { kind: 'error', status: 422, code: 'Invalid' } });
  await during(source.report?.(key, report(clock.now()), going()) ?? Promise.resolve());
  await clock.advance(120_000);
  // The same decision again is counted in its event.
  await during(source.report?.(key, report(clock.now()), going()) ?? Promise.resolve());
  await clock.advance(1_000);
  await during(source.report?.(key, 'gone', going()) ?? Promise.resolve());
  await source.close?.();
}

/** Pods that are made, made again after a lost answer, do not start, and go. */
async function liveAsBackend(scene: KubeScene, context: Context, scope: string): Promise<void> {
  const { clock, fake, during } = scene;
  const template = { ...AGENT_POD, spec: { ...AGENT_POD.spec, volumes: [CONFIG_MAP_VOLUME] } };
  const backend = await openPods(BackendConfig.parse({ template, scope }), context);
  const launch: Launch = {
    id: 'l-1',
    mark: { cluster: CLUSTER, use: 'worker', owner: 'p-1', shape: 's-1' },
    names: ['gpu-1'],
    boot: { agentConfig: 'pool: gpu\n', token: 'once' },
    askedAt: 0,
  };
  fake.failureRules.add({ action: 'create pods', what: { kind: 'lost reply' } });
  await during(backend.create(launch, going()).catch(() => []));
  await during(backend.create(launch, going()));
  // How long a pod takes is counted from when it was first listed.
  await during(backend.list(going()));
  await clock.advance(60_000);
  const machines = await during(backend.list(going()));
  expect(machines).toHaveLength(1);
  expect(machines[0]?.trouble?.message).toContain('velda-config');
  await during(backend.delete(machines, going()));
  await backend.close?.();
}

/** Machines of computers: one half made, finished, troubled and removed, and one that is refused half way. */
async function liveAsDeployments(scene: KubeScene, context: Context): Promise<void> {
  const { clock, fake, during } = scene;
  const template = { ...AGENT_POD, spec: { ...AGENT_POD.spec, volumes: [CONFIG_MAP_VOLUME] } };
  const backend = await openDeployments(DeploymentConfig.parse({ template, namespace: 'default' }), context);
  const launch = (name: string): Launch => ({
    id: `l-${name}`,
    mark: { cluster: CLUSTER, use: 'computer', owner: 'c-1', shape: 's-1' },
    names: [name],
    boot: { agentConfig: 'pool: dev\n', token: 'once', port: 8_000 },
    askedAt: 0,
  });
  fake.failureRules.add({ action: 'create deployments', what: { kind: 'lost reply' } });
  await during(backend.create(launch('dev-1'), going()));
  const invalid = {
    kind: 'error',
    status: 422,
    code: 'Invalid',
    message: 'provided port is already allocated',
  } as const;
  fake.failureRules.add({ action: 'create services', what: invalid });
  await during(backend.create(launch('dev-2'), going()));
  await during(backend.list(going()));
  await clock.advance(60_000);
  const machines = await during(backend.list(going()));
  expect(machines.map(({ name, trouble }) => [name, trouble?.message])).toEqual([
    ['dev-1', expect.stringContaining('velda-config')],
  ]);
  await during(backend.delete(machines, going()));
  await clock.advance(60_000);
  expect(await during(backend.list(going()))).toEqual([]);
  await backend.close?.();
}

const grantedBy = (rights: readonly Right[]): string[] =>
  rights.flatMap((right) => right.verbs.map((verb) => `${verb} ${rightName(right)}`)).toSorted();

describe('the rights for computers', () => {
  // No call of ours, but asked of whoever makes an owner wait.
  const AT_ADMISSION = 'update deployments.apps/finalizers';

  it.each([
    ['on an API server as it comes', false],
    ['where owner references need a right', true],
  ])('are exactly those that its code uses, %s', async (_title, enforcesOwnerReferences) => {
    const scene = openKubeScene({ behaviour: { enforcesOwnerReferences } });
    await applyRights(scene, ['default'], true);
    const { context, made, refused } = openServer(scene);

    await liveAsDeployments(scene, context);

    expect(refused).toEqual([]);
    expect([...made, AT_ADMISSION].toSorted()).toEqual(grantedBy(DEPLOYMENT_RIGHTS));
  });

  it('are missing unless they were asked for, and the fault names the rule', async () => {
    const scene = openKubeScene();
    await applyRights(scene, ['default']);
    const { context } = openServer(scene);
    const backend = await openDeployments(DeploymentConfig.parse({ image: 'a', namespace: 'default' }), context);

    const listing = scene.during(backend.list(going()));

    await expect(listing).rejects.toMatchObject({
      kind: 'denied',
      remedy: expect.stringContaining('apiGroups: ["apps"], resources: ["deployments"]'),
    });
    expect(rbacFile()).not.toContain('secrets');
    expect(parse(chartRights({ rights: [], releaseRights: [] })).server).toEqual(rulesOf(RIGHTS));
  });
});

describe.each([
  ['all namespaces, by a ClusterRole', undefined, 'cluster'],
  ['one namespace, by a Role', 'default', 'namespace'],
])('the rights of a server that serves %s', (_title, namespace, scope) => {
  it('are exactly those that its code uses', async () => {
    const scene = openKubeScene();
    await installCrd(scene);
    await applyRights(scene, namespace === undefined ? [] : [namespace]);
    const { context, made, refused } = openServer(scene);

    await liveAsSource(scene, context, namespace);
    await liveAsBackend(scene, context, scope);

    expect(refused).toEqual([]);
    expect([...made].toSorted()).toEqual(grantedBy(RIGHTS));
    expect(scene.fake.objects('agentpools.velda.io')[0]?.metadata.finalizers ?? []).toEqual([]);
  });
});

describe('the table of rights in the documents', () => {
  const root = join(import.meta.dirname, '../../..');

  it.each(['src/providers/kubernetes/README.md', 'docs/guides/pool-kubernetes-crd.md'])(
    'of %s is the one that is granted',
    (path) => {
      expect(readFileSync(join(root, path), 'utf8')).toContain(renderRights(RIGHTS));
    },
  );

  it('of the README has those for computers too', () => {
    expect(readFileSync(join(root, 'src/providers/kubernetes/README.md'), 'utf8')).toContain(
      renderRights(DEPLOYMENT_RIGHTS),
    );
  });
});
