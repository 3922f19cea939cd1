// A server with a Role in each namespace that it serves: the Role goes with its namespace, at any moment of its deletion.
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { runCli } from '../system/harness/cli.ts';
import { ADMIN } from './parts/control-plane.ts';
import { smallPool } from './parts/kube-scene.ts';
import { needed } from './parts/part.ts';
import { ACCOUNT } from './parts/rights.ts';
import { sharedScene } from './parts/shared-scene.ts';

const NAMES = ['one', 'two', 'three'];
const part = sharedScene({ namespaces: ['default', 'team', 'other'] });

test('all pools of a namespace that is deleted after them go', async (context) => {
  const { cluster, untilReady } = needed(context, part());
  await cluster.apply(...NAMES.map((name) => smallPool(`other-${name}`, 'other')));
  for (const name of NAMES) await untilReady(`other-${name}`, 'other');

  await cluster.kubectl('delete', 'agentpools', '--all', '-n', 'other', '--timeout=200s');
  await cluster.kubectl('delete', 'namespace', 'other', '--timeout=200s');

  expect((await cluster.tryKubectl('get', 'namespace', 'other')).err).toContain('NotFound');
});

test('a namespace whose RoleBinding went first waits, says for what, and goes after `muster kube release`', async (context) => {
  const { cluster, untilReady, world, muster } = needed(context, part());
  await cluster.apply(...NAMES.map((name) => smallPool(`team-${name}`, 'team')));
  for (const name of NAMES) await untilReady(`team-${name}`, 'team');

  await cluster.kubectl('delete', 'rolebinding', ACCOUNT.name, '-n', 'team');
  await cluster.kubectl('delete', 'namespace', 'team', '--wait=false');
  const remaining = await until('the namespace says what it waits for', async () => {
    const { status } = await cluster.get<{
      status: { conditions?: readonly { type: string; status: string; message: string }[] };
    }>('namespace', 'team');
    const found = status.conditions?.find(({ type }) => type === 'NamespaceFinalizersRemaining');
    return found?.status === 'True' && found.message;
  });
  const lacks = await until('the source says what it lacks', async () => {
    const { out } = await muster('source', 'ls', '-o', 'json');
    return out.match(/refused to [^"]* in namespace team/)?.[0];
  });
  const env = { KUBECONFIG: cluster.kubeconfigOf(ADMIN) };
  const released = await runCli(world, ['kube', 'release', '--namespace', 'team'], env);
  await until('the namespace goes', async () =>
    (await cluster.tryKubectl('get', 'namespace', 'team')).err.includes('NotFound'),
  );

  expect(remaining).toMatch(/muster\.io\/drain-\w+ in \d resource instances/);
  expect(lacks).toContain('agentpools.velda.io');
  expect(released).toMatchObject({ code: 0 });
  expect(released.out).toContain('released team/team-one');
});
