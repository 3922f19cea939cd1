import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { smallPool } from './parts/kube-scene.ts';
import { needed } from './parts/part.ts';
import { ACCOUNT_USER } from './parts/rights.ts';
import { sharedScene } from './parts/shared-scene.ts';

const manifest = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'kubernetes', `${name}.yaml`), 'utf8');

const part = sharedScene({ namespaces: ['default', 'team'] });

const cells = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));

test('the pools of the guide become ready under the documented rights', async (context) => {
  const scene = needed(context, part());
  const { cluster } = scene;

  const said = await cluster.apply(...['velda-config', 'cpu-pool', 'gpu-pool', 'shell'].map(manifest));
  for (const pool of ['cpu-pool', 'gpu-pool', 'shell']) await scene.untilReady(pool);
  const [head, ...rows] = cells(await cluster.kubectl('get', 'ap', '-n', 'default'));
  const ofGroup = await scene.pods('group=velda-agent');
  const ofPool = await scene.pods('app=velda-agent,pool=gpu-pool');

  expect(cells(said).map(([object]) => object)).toEqual([
    'configmap/velda-config',
    ...['cpu-pool', 'gpu-pool', 'shell'].map((name) => `agentpool.velda.io/${name}`),
  ]);
  expect(head).toEqual(['NAME', 'STATUS', 'READY', 'IDLE', 'BUSY', 'QUEUED', 'DESIRED', 'MAX', 'AGE']);
  expect(rows.map((row) => row.slice(0, -1))).toEqual([
    ['cpu-pool', 'Ready', '3', '3', '0', '0', '3', '20'],
    ['gpu-pool', 'Ready', '1', '1', '0', '0', '1', '10'],
    ['shell', 'Ready', '1', '1', '0', '0', '1', '4'],
  ]);
  expect([ofGroup.length, ofPool.length]).toEqual([1, 1]);
});

test('kubectl describe shows the conditions, the last decision and what the pool did', async (context) => {
  const { cluster } = needed(context, part());

  const described = await until('an event', async () => {
    const text = await cluster.kubectl('describe', 'agentpool', 'cpu-pool', '-n', 'default');
    return /Normal\s+\w+/.test(text) && text;
  });

  expect(described).toMatch(/Message:\s+3 of 3 agents are connected\./);
  expect(described).toMatch(/Why:\s+0 queued and 3 idle/);
  expect(described).toMatch(/Normal\s+Demand\s+\d+s\s+muster\s+launch 3: 0 queued and 0 idle, below minIdle 3/);
});

test('a session of a pool of the guide ends with its output and its exit code', async (context) => {
  const scene = needed(context, part());

  const ran = await scene.muster('run', '-p', 'shell', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3');

  expect(ran).toEqual({ code: 3, out: 'out\n', err: 'err\n' });
});

test('after kubectl edit the idle pods are replaced, and the busy one finishes its session first', async (context) => {
  const scene = needed(context, part());
  const { cluster } = scene;
  await cluster.apply(smallPool('edited'));
  await scene.untilReady('edited');
  const { pod, release } = await scene.occupy('edited');
  await scene.untilReady('edited');
  const before = await scene.pods('pool=edited');

  const said = await cluster.edit('s/image: .*/image: veldaio.example\\/agent:2/', 'agentpool', 'edited');
  const rolled = await until('the idle pod is another', async () => {
    const pods = await scene.pods('pool=edited');
    const fresh = pods.filter(({ metadata: { uid } }) => !before.some((one) => one.metadata.uid === uid));
    return fresh.length === 1 && pods.length === 2 && pods;
  });
  const end = await release(4);
  await until(
    'the old pod goes',
    async () => !(await scene.pods('pool=edited')).some(({ metadata }) => metadata.name === pod),
  );

  expect(said).toContain('agentpool.velda.io/edited edited');
  expect(before).toHaveLength(2);
  expect(rolled.map(({ metadata }) => metadata.name)).toContain(pod);
  expect(end).toMatchObject({ exit_code: 4 });
});

test.for([
  {
    name: 'unlabelled',
    change: { template: { metadata: { labels: null } } },
    says: 'spec.template.metadata.labels: The template must have at least one label.',
  },
  {
    name: 'upside-down',
    change: { autoscaler: { minReplicas: 5, maxReplicas: 2 } },
    says: 'spec.autoscaler.minReplicas: is 5, above',
  },
  {
    name: 'mistyped',
    change: { autoscaler: { maxReplica: 2 } },
    says: 'spec.autoscaler.maxReplica: is not a known key; did you mean maxReplicas?',
  },
])(
  '$name: the object says what is wrong, and the last good definition stays',
  async ({ name, change, says }, context) => {
    const scene = needed(context, part());
    const { cluster } = scene;
    await cluster.apply(smallPool(name));
    await scene.untilReady(name);
    const before = await scene.pods(`pool=${name}`);

    await cluster.kubectl('patch', 'agentpool', name, '--type=merge', '-p', JSON.stringify({ spec: change }));
    const said = await until('a refusal', async () => {
      const condition = await scene.condition(name, 'Synced');
      return condition.startsWith('False') && condition;
    });

    expect(said).toContain(says);
    expect(said).toContain('The last good definition stays in force.');
    expect(await scene.pods(`pool=${name}`)).toEqual(before);
  },
);

test('negative numbers are refused by the API server itself', async (context) => {
  const { cluster } = needed(context, part());

  const said = await cluster
    .apply(smallPool('negative', 'default', { maxReplicas: -1 }))
    .catch((thrown) => thrown.message);

  expect(said).toContain('spec.autoscaler.maxReplicas');
  expect(said).toContain('should be greater than or equal to 0');
});

test('a pod that the API server refuses is shown in its own words', async (context) => {
  const scene = needed(context, part());
  const pool = smallPool('refused');
  const containers = [{ name: 'Not_A_Name', image: 'veldaio/agent:latest' }];

  await scene.cluster.apply({
    ...pool,
    spec: { ...pool.spec, template: { ...pool.spec.template, spec: { containers } } },
  });
  const said = await until('trouble', async () => {
    const condition = await scene.condition('refused', 'BackendHealthy');
    return condition.startsWith('False') && condition;
  });

  expect(said).toContain('spec.containers[0].name: Invalid value: "Not_A_Name"');
});

test('of two objects of one name only the second is at fault, and it says so at each edit', async (context) => {
  const scene = needed(context, part());
  const { cluster } = scene;
  await cluster.apply(smallPool('twice'));
  await scene.untilReady('twice');
  const refused = (generation: number) =>
    until(`a conflict of generation ${generation}`, async () => {
      const { status } = await scene.pool('twice', 'team');
      return status?.observedGeneration === generation && scene.condition('twice', 'Synced', 'team');
    });

  await cluster.apply(smallPool('twice', 'team'));
  const second = await refused(1);
  for (const namespace of ['default', 'team'])
    await cluster.apply(smallPool('twice', namespace, { maxReplicas: 4, minReplicas: 2 }));
  const edited = await refused(2);
  const first = await scene.untilReady('twice');

  expect(second).toContain('False NameTaken: AgentPool default/twice has the name twice.');
  expect(edited).toBe(second);
  expect(first.status).toMatchObject({ observedGeneration: 2, desired: 2, ready: 2 });
  expect(await scene.condition('twice', 'Synced')).toContain('True Applied');
});

test('nothing that the server asked for was refused, and it asked for nothing that is not documented', async (context) => {
  const { cluster } = needed(context, part());

  const refused = cluster.audited(ACCOUNT_USER).filter(({ responseStatus }) => responseStatus?.code === 403);

  expect(refused).toEqual([]);
});
