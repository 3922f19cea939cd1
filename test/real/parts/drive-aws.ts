// Amazon's own command line against our simulated AWS, and what it understood.
import { isDeepStrictEqual } from 'node:util';
import { until } from '#core/testing/until.ts';
import type { Programs } from './python.ts';
import { run, runWell } from './run.ts';

export interface AwsReport {
  readonly made: readonly string[];
  readonly listed: readonly string[];
  readonly refused: Readonly<Record<string, string>>;
  readonly parameters: readonly string[];
  readonly ours: Readonly<Record<string, unknown>>;
}

/** `An error occurred (CODE) when calling …` */
const codeIn = (text: string): string => /An error occurred \(([\w.]+)\)/.exec(text)?.[1] ?? text.trim();

const LAUNCH = ['ec2', 'run-instances', '--image-id', 'ami-00000000000000a9e', '--instance-type', 'c5.large'];
const NAMES = 'Reservations[].Instances[].Tags[?Key==`Name`].Value | []';
const OURS =
  'Reservations[0].Instances[0].{type: InstanceType, image: ImageId, subnet: SubnetId, key: KeyName, groups: SecurityGroups[].GroupId, lifecycle: InstanceLifecycle, tags: Tags}';

/** Makes, lists, stops and ends machines and parameters; `ourName` is a machine that Muster made there. */
export async function driveAws(
  programs: Programs,
  env: Readonly<Record<string, string>>,
  ourName: string,
): Promise<AwsReport> {
  const program = programs.program('aws');
  const aws = async <T>(...words: string[]): Promise<T> => {
    const out = await runWell(program, words, { env });
    return (out.trim() === '' ? undefined : JSON.parse(out)) as T;
  };
  const refusalOf = async (words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<string> =>
    codeIn((await run(program, words, { env: { ...env, ...more } })).err);
  const living = ['--filters', 'Name=instance-state-name,Values=pending,running'];
  const names = () => aws<string[]>('ec2', 'describe-instances', ...living, '--page-size', '5', '--query', NAMES);

  const tags = (name: string) => `ResourceType=instance,Tags=[{Key=Name,Value=${name}}]`;
  const launched: string[] = [];
  for (const name of ['ref-1', 'ref-2']) {
    const query = ['--query', 'Instances[0].InstanceId'];
    launched.push(await aws<string>(...LAUNCH, '--count', '1', '--tag-specifications', tags(name), ...query));
  }
  const listed = await until('all are listed', async () => {
    const found = (await names()).toSorted();
    return isDeepStrictEqual(found, [ourName, 'ref-1', 'ref-2'].toSorted()) && found;
  });
  const ours = await aws<Record<string, unknown>>(
    'ec2',
    'describe-instances',
    '--filters',
    `Name=tag:Name,Values=${ourName}`,
    '--query',
    OURS,
  );
  for (const name of ['a', 'b', 'c'])
    await aws('ssm', 'put-parameter', '--name', `/ref/${name}`, '--type', 'String', '--value', name);
  const path = ['--path', '/ref', '--page-size', '1', '--query', 'Parameters[].Name'];
  const parameters = await aws<string[]>('ssm', 'get-parameters-by-path', ...path);
  const refused = {
    image: await refusalOf([...LAUNCH.slice(0, 3), 'ami-00000000000000000', ...LAUNCH.slice(4)]),
    subnet: await refusalOf([...LAUNCH, '--subnet-id', 'subnet-none']),
    group: await refusalOf([...LAUNCH, '--security-group-ids', 'sg-none']),
    key: await refusalOf([...LAUNCH, '--key-name', 'none']),
    profile: await refusalOf([...LAUNCH, '--iam-instance-profile', 'Name=none']),
    instance: await refusalOf(['ec2', 'terminate-instances', '--instance-ids', 'i-00000000000000000']),
    parameter: await refusalOf(['ssm', 'get-parameter', '--name', '/ref/none']),
    accessKey: await refusalOf(['ec2', 'describe-instances'], { AWS_ACCESS_KEY_ID: 'AKIANOBODY' }),
    region: await refusalOf(['ec2', 'describe-instances', '--region', 'us-west-9']),
  };
  await aws('ec2', 'terminate-instances', '--instance-ids', ...launched);
  await until('only ours is left', async () => isDeepStrictEqual(await names(), [ourName]));
  return { made: launched.map((id) => id.slice(0, 2)), listed, refused, parameters, ours };
}
