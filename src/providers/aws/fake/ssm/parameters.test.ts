import {
  AddTagsToResourceCommand,
  DeleteParameterCommand,
  DescribeParametersCommand,
  GetParameterCommand,
  GetParametersByPathCommand,
  type GetParametersByPathCommandInput,
  GetParametersCommand,
  ListTagsForResourceCommand,
  PutParameterCommand,
  type PutParameterCommandInput,
} from '@aws-sdk/client-ssm';
import { describe, expect, test } from 'vitest';
import { SEED_DATA } from '../seed-data.ts';
import { openClients, openScene } from '../testing.ts';

type Scene = Pick<ReturnType<typeof openScene>, 'ssm'>;

const put = ({ ssm }: Scene, Name: string, more: Partial<PutParameterCommandInput> = {}) =>
  ssm.send(new PutParameterCommand({ Name, Value: `value of ${Name}`, Type: 'String', ...more }));

async function page({ ssm }: Scene, input: Partial<GetParametersByPathCommandInput> = {}) {
  const command = new GetParametersByPathCommand({ Path: '/velda/pools', Recursive: true, ...input });
  const { Parameters = [], NextToken } = await ssm.send(command);
  return { names: Parameters.map(({ Name }) => Name as string), token: NextToken, parameters: Parameters };
}

async function all(scene: Scene, input: Partial<GetParametersByPathCommandInput> = {}) {
  const names: string[] = [];
  let pages = 0;
  for (let token: string | undefined; pages === 0 || token; pages += 1) {
    const got = await page(scene, { ...input, ...(token ? { NextToken: token } : {}) });
    names.push(...got.names);
    token = got.token;
  }
  return { names, pages };
}

describe('by path', () => {
  test('what lies below comes, with or without a slash at the end; deeper only when asked', async () => {
    const scene = openScene();
    for (const name of ['/velda/pools/b', '/velda/pools/team/a', '/velda/poolsx', '/velda/pools/a.b-c_d']) {
      await put(scene, name);
    }

    expect((await page(scene)).names).toEqual(['/velda/pools/a.b-c_d', '/velda/pools/b', '/velda/pools/team/a']);
    expect((await page(scene, { Path: '/velda/pools/' })).names).toHaveLength(3);
    expect((await page(scene, { Recursive: false })).names).toEqual(['/velda/pools/a.b-c_d', '/velda/pools/b']);
    expect((await page(scene, { Path: '/' })).names).toContain('/velda/poolsx');
    expect((await page(scene, { Path: '/other' })).names).toEqual([]);
    await expect(page(scene, { Path: 'velda' })).rejects.toMatchObject({ name: 'ValidationException' });
  });

  test('ten a page at most, one where this AWS is made so, and none is lost or shown twice', async () => {
    const scene = openScene();
    const names = Array.from({ length: 23 }, (_, n) => `/velda/pools/p${String(n).padStart(2, '0')}`);
    for (const name of names) await put(scene, name);

    expect(await all(scene)).toEqual({ names, pages: 3 });
    expect(await all(scene, { MaxResults: 5 })).toEqual({ names, pages: 5 });
    scene.fake.behaviour.largestPage = 1;
    expect(await all(scene)).toEqual({ names, pages: 23 });
    await expect(page(scene, { MaxResults: 11 })).rejects.toMatchObject({ name: 'ValidationException' });
  });

  test('a page may be empty and still have a token', async () => {
    const scene = openScene({ behaviour: { emptyPages: 1 } });
    await put(scene, '/velda/pools/a');

    const first = await page(scene);

    expect(first).toMatchObject({ names: [], token: expect.any(String) });
    expect(await all(scene)).toEqual({ names: ['/velda/pools/a'], pages: 2 });
  });

  test('a token is good for the same question, and for a while', async () => {
    const scene = openScene({ behaviour: { largestPage: 1, tokenLifeMs: 60_000 } });
    await put(scene, '/velda/pools/a');
    await put(scene, '/velda/pools/b');
    const { token } = await page(scene);

    await expect(page(scene, { Path: '/velda', NextToken: token })).rejects.toMatchObject({ name: 'InvalidNextToken' });
    await expect(page(scene, { NextToken: 'x' })).rejects.toMatchObject({ name: 'InvalidNextToken' });
    expect((await page(scene, { NextToken: token })).names).toEqual(['/velda/pools/b']);
    await scene.clock.advance(61_000);
    await expect(page(scene, { NextToken: token })).rejects.toMatchObject({ name: 'InvalidNextToken' });
  });
});

describe('a secret', () => {
  test('is sealed unless asked for, and open when asked', async () => {
    const scene = openScene();
    await put(scene, '/velda/pools/a', { Type: 'SecureString', Value: 'plain' });

    const sealed = await page(scene);
    const open = await page(scene, { WithDecryption: true });

    expect(sealed.parameters[0]?.Value).toMatch(/^AQICAHh/);
    expect(open.parameters[0]).toMatchObject({ Value: 'plain', Type: 'SecureString', Version: 1 });
  });

  test('fails the whole page for who may not use its key', async () => {
    const scene = openScene();
    await put(scene, '/velda/pools/a', { Type: 'SecureString' });
    await put(scene, '/velda/pools/b');
    scene.fake.principals.deny('kms:Decrypt');

    await expect(page(scene, { WithDecryption: true })).rejects.toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringContaining('The ciphertext refers to'),
    });
    expect((await page(scene)).names).toHaveLength(2);
  });
});

test('versions count up, and writing over needs the word', async () => {
  const scene = openScene();

  expect(await put(scene, '/a')).toMatchObject({ Version: 1, Tier: 'Standard' });
  await expect(put(scene, '/a')).rejects.toMatchObject({ name: 'ParameterAlreadyExists' });
  expect(await put(scene, '/a', { Overwrite: true, Value: 'second' })).toMatchObject({ Version: 2 });
  const { Parameter } = await scene.ssm.send(new GetParameterCommand({ Name: '/a' }));
  const first = await scene.ssm.send(new GetParameterCommand({ Name: '/a:1' }));

  expect(Parameter).toMatchObject({
    Value: 'second',
    Version: 2,
    ARN: 'arn:aws:ssm:us-west-2:123456789012:parameter/a',
    LastModifiedDate: new Date(scene.clock.now()),
  });
  expect(first.Parameter).toMatchObject({ Value: 'value of /a', Version: 1 });
});

test.each<[string, string, Partial<PutParameterCommandInput>, string]>([
  ['over 4 KB', '/a', { Value: 'ü'.repeat(2_049) }, 'ValidationException'],
  ['over 8 KB in the advanced tier', '/a', { Value: 'x'.repeat(8_193), Tier: 'Advanced' }, 'ValidationException'],
  ['with blanks in its name', '/a b', {}, 'ValidationException'],
  ['with a name of AWS', '/aws/x', {}, 'AccessDeniedException'],
  ['too deep', '/a'.repeat(16), {}, 'HierarchyLevelLimitExceededException'],
  ['without a type', '/a', { Type: undefined }, 'ValidationException'],
])('a parameter %s is refused', async (_what, name, more, code) => {
  const scene = openScene();

  await expect(put(scene, name, more)).rejects.toMatchObject({ name: code });
});

test('8 KB fit into the advanced tier', async () => {
  const scene = openScene();

  await put(scene, '/a', { Value: 'x'.repeat(8_192), Tier: 'Advanced' });

  expect(scene.fake.region('us-west-2').parameters.get('/a')?.tier).toBe('Advanced');
});

test('what Terraform asks of a parameter is answered', async () => {
  const { ssm } = openScene();
  await put({ ssm }, '/velda/pools/a', { Tags: [{ Key: 'team', Value: 'ml' }] });
  const resource = { ResourceType: 'Parameter' as const, ResourceId: '/velda/pools/a' };

  await ssm.send(new AddTagsToResourceCommand({ ...resource, Tags: [{ Key: 'more', Value: 'yes' }] }));
  const { TagList } = await ssm.send(new ListTagsForResourceCommand(resource));
  const filter = { Key: 'Name', Option: 'Equals', Values: ['/velda/pools/a'] };
  const { Parameters } = await ssm.send(new DescribeParametersCommand({ ParameterFilters: [filter] }));
  await ssm.send(new DeleteParameterCommand({ Name: '/velda/pools/a' }));

  expect(TagList).toEqual([
    { Key: 'team', Value: 'ml' },
    { Key: 'more', Value: 'yes' },
  ]);
  expect(Parameters).toMatchObject([{ Name: '/velda/pools/a', Type: 'String', Version: 1, Tier: 'Standard' }]);
  await expect(ssm.send(new GetParameterCommand({ Name: '/velda/pools/a' }))).rejects.toMatchObject({
    name: 'ParameterNotFound',
  });
});

test('public parameters are there, and several are read at once', async () => {
  const { ssm } = openScene();
  const alias = '/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id';

  const reply = await ssm.send(new GetParametersCommand({ Names: [alias, '/none'] }));

  expect(reply.Parameters?.map(({ Value }) => Value)).toEqual([SEED_DATA.standardImage]);
  expect(reply.InvalidParameters).toEqual(['/none']);
});

test('regions do not see each other', async () => {
  const scene = openScene();
  await put(scene, '/velda/pools/a');

  expect((await page(openClients(scene.fake, 'eu-west-1'))).names).toEqual([]);
});
