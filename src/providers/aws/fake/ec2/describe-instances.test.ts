import {
  DescribeInstancesCommand,
  type DescribeInstancesCommandInput,
  RunInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { expect, test } from 'vitest';
import { LAUNCH, openClients, openScene } from '../testing.ts';

type Scene = ReturnType<typeof openScene>;

async function launch({ ec2 }: Scene, count: number, pool = 'p1'): Promise<string[]> {
  const TagSpecifications = [{ ResourceType: 'instance' as const, Tags: [{ Key: 'muster:pool', Value: pool }] }];
  const reply = await ec2.send(
    new RunInstancesCommand({ ...LAUNCH, MaxCount: count, ClientToken: pool, TagSpecifications }),
  );
  return reply.Instances?.map(({ InstanceId }) => InstanceId as string) ?? [];
}

async function page({ ec2 }: Pick<Scene, 'ec2'>, input: DescribeInstancesCommandInput = {}) {
  const { Reservations, NextToken } = await ec2.send(new DescribeInstancesCommand(input));
  return {
    ids: Reservations?.flatMap(({ Instances }) => Instances?.map(({ InstanceId }) => InstanceId as string) ?? []) ?? [],
    NextToken,
    Reservations,
  };
}

async function all(scene: Scene, input: DescribeInstancesCommandInput = {}): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = [];
  let pages = 0;
  for (let token: string | undefined; pages === 0 || token; ) {
    const got = await page(scene, { ...input, ...(token ? { NextToken: token } : {}) });
    ids.push(...got.ids);
    token = got.NextToken;
    pages += 1;
  }
  return { ids, pages };
}

test('filters are joined by and, their values by or, with wildcards', async () => {
  const scene = openScene();
  const first = await launch(scene, 2, 'pool-a');
  const second = await launch(scene, 1, 'pool-b');
  const by = async (...Filters: NonNullable<DescribeInstancesCommandInput['Filters']>) =>
    (await page(scene, { Filters })).ids;

  expect(await by({ Name: 'tag:muster:pool', Values: ['pool-a'] })).toEqual(first);
  expect(await by({ Name: 'tag:muster:pool', Values: ['pool-?'] })).toEqual([...first, ...second]);
  expect(await by({ Name: 'tag:muster:pool', Values: ['pool-a', 'pool-b'] })).toHaveLength(3);
  expect(await by({ Name: 'tag-key', Values: ['muster:*'] })).toHaveLength(3);
  expect(await by({ Name: 'client-token', Values: ['pool-b'] })).toEqual(second);
  expect(await by({ Name: 'instance-id', Values: second })).toEqual(second);
  expect(await by({ Name: 'instance-state-name', Values: ['running'] })).toEqual([]);
  expect(
    await by({ Name: 'tag:muster:pool', Values: ['pool-a'] }, { Name: 'tag:muster:pool', Values: ['pool-b'] }),
  ).toEqual([]);
  await expect(by({ Name: 'colour', Values: ['red'] })).rejects.toMatchObject({ name: 'InvalidParameterValue' });
});

test('a page holds as many as were asked, and one at most where this AWS is made so', async () => {
  const scene = openScene();
  const made = await launch(scene, 7);

  expect(await all(scene, { MaxResults: 5 })).toEqual({ ids: made, pages: 2 });
  scene.fake.behaviour.largestPage = 1;
  expect(await all(scene)).toEqual({ ids: made, pages: 7 });
  await expect(page(scene, { MaxResults: 4 })).rejects.toMatchObject({ name: 'InvalidParameterValue' });
  await expect(page(scene, { MaxResults: 5, InstanceIds: made })).rejects.toMatchObject({
    name: 'InvalidParameterCombination',
  });
  await expect(page(scene, { NextToken: 'x' })).rejects.toMatchObject({ name: 'InvalidPaginationToken' });
});

test('empty pages with a token may stand between', async () => {
  const scene = openScene({ behaviour: { emptyPages: 2, largestPage: 2 } });
  const made = await launch(scene, 3);

  const first = await page(scene);

  expect(first.ids).toEqual([]);
  expect(first.NextToken).toBeDefined();
  expect(await all(scene)).toEqual({ ids: made, pages: 6 });
});

test('an instance that ends between two pages does not hide another', async () => {
  const scene = openScene({ behaviour: { largestPage: 1, keepTerminatedMs: 0 } });
  const made = await launch(scene, 3);
  const first = await page(scene);
  await scene.ec2.send(new TerminateInstancesCommand({ InstanceIds: [made[0] as string] }));
  await scene.clock.advance(60_000);

  const second = await page(scene, { NextToken: first.NextToken });

  expect([...first.ids, ...second.ids]).toEqual(made.slice(0, 2));
});

test('with a lag, a new instance is not listed yet, by name not found, and one that ended is still running', async () => {
  const scene = openScene({ behaviour: { listLagMs: 5_000 } });
  const [id = ''] = await launch(scene, 1);

  expect((await page(scene)).ids).toEqual([]);
  expect((await page(scene, { Filters: [{ Name: 'client-token', Values: ['p1'] }] })).ids).toEqual([]);
  await expect(page(scene, { InstanceIds: [id] })).rejects.toMatchObject({ name: 'InvalidInstanceID.NotFound' });
  expect(scene.fake.machines()).toHaveLength(1);

  await scene.clock.advance(20_000);
  await scene.ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));

  const state = async () => (await page(scene)).Reservations?.[0]?.Instances?.[0]?.State?.Name;
  expect(await state()).toBe('running');
  await scene.clock.advance(5_000);
  expect(await state()).toBe('shutting-down');
});

test('an instance that has ended stays listed for an hour, with its reason', async () => {
  const scene = openScene();
  const [id = ''] = await launch(scene, 1);
  await scene.ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));

  await scene.clock.advance(59 * 60_000);
  const { Reservations } = await page(scene);

  expect(Reservations?.[0]?.Instances?.[0]).toMatchObject({
    State: { Code: 48, Name: 'terminated' },
    StateReason: { Code: 'Client.UserInitiatedShutdown' },
  });
  await scene.clock.advance(2 * 60_000);
  expect((await page(scene)).ids).toEqual([]);
});

test('regions do not see each other', async () => {
  const scene = openScene();
  const [id = ''] = await launch(scene, 1);
  const other = openClients(scene.fake, 'eu-west-1');

  expect((await page(other)).ids).toEqual([]);
  await expect(page(other, { InstanceIds: [id] })).rejects.toMatchObject({ name: 'InvalidInstanceID.NotFound' });
});
