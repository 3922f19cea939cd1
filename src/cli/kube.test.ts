import { expect, test } from 'vitest';
import { FAULTS, Fault } from '#core/fault.ts';
import type { KubeLocal, Local } from './command.ts';
import { openScene } from './testing.ts';

const unused = (): never => {
  throw new Fault('internal', 'Nothing else is asked.');
};

function openKubeScene(answers: Partial<KubeLocal> = {}) {
  const asked: unknown[] = [];
  const printing = (text: string) => async (options?: unknown) => {
    asked.push(options);
    return text;
  };
  const kube: KubeLocal = {
    crd: printing('kind: CustomResourceDefinition\n'),
    rbac: printing('kind: ClusterRole\n'),
    install: printing('kind: Deployment\n'),
    async release({ signal: _signal, ...options }) {
      asked.push(options);
      return ['default/cpu-pool', 'ml/gpu-pool'];
    },
    ...answers,
  };
  const local: Local = {
    server: unused,
    agent: unused,
    checkConfig: unused,
    configSchema: unused,
    forecast: unused,
    restore: unused,
    simulations: [],
    images: { host: 'here', kinds: unused, build: unused, list: unused, drop: unused },
    simCloud: unused,
    kube,
  };
  return { ...openScene(unused, { local }), options: asked };
}

test('prints manifests as they are, so that they can be piped to kubectl', async () => {
  const scene = openKubeScene();

  expect(await scene.muster('kube', 'crd')).toBe(0);
  expect(await scene.muster('kube', 'rbac', '--serve', 'ml', '--serve', 'web')).toBe(0);

  expect(scene.output()).toBe('kind: CustomResourceDefinition\nkind: ClusterRole\n');
  expect(scene.errors()).toBe('');
  expect(scene.options[1]).toEqual({ namespace: undefined, served: ['ml', 'web'] });
});

test('install applies nothing, and says so beside the manifests unless it is a dry run', async () => {
  const said = openKubeScene();
  const silent = openKubeScene();

  await said.muster('kube', 'install', '--namespace', 'muster', '--replicas', '2', '--postgres-secret', 'db');
  await silent.muster('kube', 'install', '--dry-run');

  expect(said.output()).toBe('kind: Deployment\n');
  expect(said.errors()).toContain('nothing is applied yet');
  expect(said.options).toMatchObject([{ namespace: 'muster', replicas: 2, postgresSecret: 'db' }]);
  expect(silent.output()).toBe('kind: Deployment\n');
  expect(silent.errors()).toBe('');
});

test('release names every AgentPool that it let go', async () => {
  const scene = openKubeScene();

  expect(await scene.muster('kube', 'release', '--stop-server', 'velda', '--namespace', 'ml')).toBe(0);

  expect(scene.output()).toBe('released default/cpu-pool\nreleased ml/gpu-pool\n');
  expect(scene.options).toEqual([
    { namespaces: ['ml'], server: { namespace: 'velda', name: 'velda-apiserver' }, context: undefined },
  ]);
});

test('release says where there was nothing to do, and ends with the exit code of its fault', async () => {
  const idle = openKubeScene({ release: async () => [] });
  const refused = openKubeScene({
    release: async () => {
      throw new Fault('denied', 'Kubernetes refused to list agentpools.velda.io in all namespaces.');
    },
  });

  expect(await idle.muster('kube', 'release')).toBe(0);
  expect(idle.output()).toContain('No AgentPool has the finalizer');
  expect(await refused.muster('kube', 'release')).toBe(FAULTS.denied.exit);
  expect(refused.errors()).toContain('refused to list agentpools');
});

test('release refuses a server that is no Deployment of a namespace', async () => {
  const scene = openKubeScene();

  expect(await scene.muster('kube', 'release', '--stop-server', 'a/b/c')).toBe(FAULTS.invalid.exit);
  expect(scene.errors()).toContain('--stop-server a/b/c');
});
