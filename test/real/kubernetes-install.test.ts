// Muster's own manifests and chart on a real control plane; kwok plays the pods, so nothing of ours runs in them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { type CliResult, runCli } from '../system/harness/cli.ts';
import { openWorld, ROOT, type World } from '../system/harness/world.ts';
import { ADMIN, type ControlPlane, openControlPlane } from './parts/control-plane.ts';
import { kubernetesPrograms } from './parts/kubernetes.ts';
import { EXIT_ANNOTATION, playedNode } from './parts/kwok.ts';
import { isMissing, needed, type Part } from './parts/part.ts';
import { run, runWell } from './parts/run.ts';

interface Installed {
  readonly world: World;
  readonly cluster: ControlPlane;
  helm(...words: readonly string[]): Promise<string>;
  /** `muster` on this machine, as the user of that kubeconfig. */
  muster(kubeconfig: string, ...words: readonly string[]): Promise<CliResult>;
}

const ACCOUNT = 'system:serviceaccount:velda:velda-apiserver';
const CHART = join(ROOT, 'deploy/helm/muster');
const shipped = (name: string): string => readFileSync(join(ROOT, 'deploy/kubernetes', name), 'utf8');

let part: Part<Installed>;
let world: World | undefined;

beforeAll(async () => {
  const programs = await kubernetesPrograms();
  if (isMissing(programs)) {
    part = programs;
    return;
  }
  const opened = openWorld();
  world = opened;
  const cluster = await openControlPlane(opened, programs);
  await cluster.apply(playedNode('node-1'));
  const env = { ...opened.env, KUBECONFIG: cluster.kubeconfigOf(ADMIN) };
  part = {
    world: opened,
    cluster,
    helm: (...words) => runWell(programs.program('helm'), words, { env }),
    muster: (kubeconfig, ...words) => runCli(opened, words, { KUBECONFIG: kubeconfig }),
  };
});

afterAll(() => world?.close());

test('the plain manifests are applied by the client, and a second time change nothing', async (context) => {
  const { cluster, muster } = needed(context, part);
  const { out: manifests } = await muster('', 'kube', 'install', '--dry-run');

  const first = await cluster.apply(manifests);
  const second = await cluster.apply(manifests);
  const files = await cluster.apply(
    ...['agentpool-crd-cel', 'velda-rbac', 'muster'].map((name) => shipped(`${name}.yaml`)),
  );

  expect(first.trim().split('\n')).toHaveLength(9);
  const changed = [...second.trim().split('\n'), ...files.trim().split('\n')].filter(
    (line) => !/unchanged$/.test(line),
  );
  expect(changed).toEqual([]);
  await cluster.kubectl('wait', '--for=condition=Established', 'crd/agentpools.velda.io');
});

test('the shipped rights are those of the guide, and no more', async (context) => {
  const { cluster } = needed(context, part);
  const may = async (verb: string, resource: string): Promise<string> =>
    (await cluster.tryKubectl('auth', 'can-i', verb, resource, `--as=${ACCOUNT}`, '-n', 'default')).out.trim();

  expect(await may('list', 'agentpools.velda.io')).toBe('yes');
  expect(await may('create', 'pods')).toBe('yes');
  expect(await may('get', 'secrets')).toBe('no');
  expect(await may('delete', 'agentpools.velda.io')).toBe('no');
});

test('without Helm it goes as it came', async (context) => {
  const { cluster, muster } = needed(context, part);
  const { out: manifests } = await muster('', 'kube', 'install', '--dry-run');
  const admin = cluster.kubeconfigOf(ADMIN);

  const released = await muster(admin, 'kube', 'release', '--stop-server', 'velda');
  const file = needed(context, part).world.write('install.yaml', manifests);
  await cluster.kubectl('delete', '-f', file);

  expect(released).toMatchObject({ code: 0, out: 'No AgentPool has the finalizer of Muster.\n' });
  expect((await cluster.tryKubectl('get', 'namespace', 'velda')).code).not.toBe(0);
});

test('helm uninstall lets AgentPools go that bear our finalizer, under the rights of its hook', async (context) => {
  const { cluster, helm, muster, world: place } = needed(context, part);
  await helm('install', 'muster', CHART, '--namespace', 'velda', '--create-namespace');
  await cluster.kubectl('wait', '--for=condition=Established', 'crd/agentpools.velda.io');
  await cluster.apply(shipped('examples/shell.yaml'));
  const unseen = await cluster.get<{ status: object }>('agentpool', 'shell');
  const finalizers = JSON.stringify({ metadata: { finalizers: ['muster.io/drain-cluster1'] } });
  await cluster.kubectl('patch', 'ap', 'shell', '--type=merge', '-p', finalizers);
  const podsOf = (app: string): Promise<string> =>
    cluster.kubectl('get', 'pods', '-n', 'velda', '-l', `app=${app}`, '-o', 'name');

  const programs = needed(context, await kubernetesPrograms());
  const env = { ...place.env, KUBECONFIG: cluster.kubeconfigOf(ADMIN) };
  const uninstalling = run(programs.program('helm'), ['uninstall', 'muster', '-n', 'velda', '--timeout', '240s'], {
    env,
  });
  const pod = await until('the pod of the hook', async () => (await podsOf('velda-apiserver-release')).trim());
  // What the hook's container would do, by the account of the hook.
  const token = await cluster.kubectl('create', 'token', 'velda-apiserver-release', '-n', 'velda');
  const account = cluster.writeKubeconfig('release', token.trim());
  const words = ['kube', 'release', '--stop-server', 'velda/velda-apiserver'];
  const released = await muster(account, ...words);
  const left = await podsOf('velda-apiserver');
  await cluster.kubectl('annotate', '-n', 'velda', pod, `${EXIT_ANNOTATION}=0`);

  // What waits for a status must not take an object that no server has seen for one that is done.
  expect(unseen.status).toEqual({ observedGeneration: -1 });
  expect(released).toMatchObject({ code: 0, out: 'released default/shell\n' });
  expect(left).toBe('');
  expect(await uninstalling).toMatchObject({ code: 0 });
  const all = await cluster.kubectl('get', 'all,role,rolebinding,serviceaccount,pvc', '-n', 'velda', '-o', 'name');
  expect(all.trim().split('\n').toSorted()).toEqual([
    'persistentvolumeclaim/velda-apiserver',
    'serviceaccount/default',
  ]);
  expect(await cluster.kubectl('get', 'clusterrole,clusterrolebinding', '-o', 'name')).not.toContain('velda');
  await cluster.kubectl('delete', 'agentpool', 'shell', '--timeout=60s');
});

test('a later installation takes the volume over, and an upgrade goes to PostgreSQL with replicas', async (context) => {
  const { cluster, helm } = needed(context, part);
  const volume = async (): Promise<string> =>
    (await cluster.get<{ metadata: { uid: string } }>('pvc', 'velda-apiserver', '-n', 'velda')).metadata.uid;
  const before = await volume();
  const more = ['networkPolicy.enabled=true', 'dashboard.enabled=true'].flatMap((value) => ['--set', value]);
  const postgres = ['replicas=2', 'postgres.secret=db'].flatMap((value) => ['--set', value]);

  await helm('install', 'muster', CHART, '-n', 'velda', ...more);
  const after = await volume();
  await helm('upgrade', 'muster', CHART, '-n', 'velda', ...more, ...postgres);

  expect(after).toBe(before);
  expect(await volume()).toBe(before);
  const budget = await cluster.get<{ spec: object }>('pdb', 'velda-apiserver', '-n', 'velda');
  expect(budget.spec).toMatchObject({ maxUnavailable: 1 });
  const { spec } = await cluster.get<{ spec: object }>('deployment', 'velda-apiserver', '-n', 'velda');
  expect(spec).toMatchObject({ replicas: 2, strategy: { type: 'RollingUpdate' } });
});
