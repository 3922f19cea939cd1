import { Buffer } from 'node:buffer';
import { refusal } from '#fakes/refusal.ts';
import { isPromiseOnly } from '../ec2/stock.ts';
import { hexId } from '../hex-id.ts';
import type { Region, Subnet } from '../region.ts';
import type { Ask } from '../world.ts';
import { isActive, type Step, shownTask, type Tag, type Task } from './task.ts';
import { clientError, containersOf, definitionNamed, purge, type TaskDefinition } from './task-definition.ts';

const invalid = (message: string) => refusal('InvalidParameterException', message);

interface Override {
  readonly name: string;
  readonly environment?: readonly { readonly name: string; readonly value: string }[];
}

interface Network {
  readonly subnets: readonly string[];
  readonly securityGroups?: readonly string[];
  readonly assignPublicIp?: string;
}

/** The name of a cluster, which must be there. */
export function clusterNamed({ region, body }: Pick<Ask, 'region' | 'body'>): string {
  const name = String(body.cluster ?? 'default').replace(/^arn:.*:cluster\//, '');
  if (!region.ecsClusters.has(name)) throw refusal('ClusterNotFoundException', 'Cluster not found.');
  return name;
}

const LONGEST_OVERRIDES = 8_192;
const LONGEST_TOKEN = 64;
const MOST_TAGS = 50;
const TAG_TEXT = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

function checkTags(tags: readonly Tag[]): void {
  if (tags.length > MOST_TAGS) throw invalid(`Tags can not have more than ${MOST_TAGS} entries.`);
  for (const { key, value = '' } of tags) {
    if (/^aws:/i.test(key)) throw invalid("The 'aws:' prefix is reserved.");
    if (!TAG_TEXT.test(key) || !TAG_TEXT.test(value) || key.length > 128 || value.length > 256)
      throw invalid(
        'Some tags contain invalid characters. Valid characters: UTF-8 letters, spaces, numbers and _ . / = + - : @.',
      );
  }
}

function checkRequest({ body }: Ask): void {
  const { overrides = {}, clientToken = '', startedBy = '', count = 1, tags = [] } = body;
  if (JSON.stringify(overrides).length > LONGEST_OVERRIDES)
    throw invalid(`Container Overrides length must be at most ${LONGEST_OVERRIDES}`);
  if (!/^[\x21-\x7e]*$/.test(String(clientToken)) || String(clientToken).length > LONGEST_TOKEN)
    throw invalid(`clientToken must be at most ${LONGEST_TOKEN} characters.`);
  if (!/^[A-Za-z0-9/_-]{0,128}$/.test(String(startedBy))) throw invalid('startedBy contains invalid characters.');
  if (!(Number(count) >= 1 && Number(count) <= 10)) throw invalid('count should be between 1 and 10.');
  checkTags(tags as readonly Tag[]);
}

function networkOf({ region, body }: Ask): {
  readonly subnet: Subnet;
  readonly groups: readonly string[];
  isPublic: boolean;
} {
  const given = (body.networkConfiguration as { readonly awsvpcConfiguration?: Network } | undefined)
    ?.awsvpcConfiguration;
  if (!given) throw invalid("Network Configuration must be provided when networkMode 'awsvpc' is specified.");
  if (given.subnets.length === 0) throw invalid('subnets can not be empty.');
  for (const id of given.subnets)
    if (!region.subnets.has(id))
      throw invalid(
        `Error retrieving subnet information for [${id}]: The subnet ID '${id}' does not exist (ErrorCode: InvalidSubnetID.NotFound)`,
      );
  for (const id of given.securityGroups ?? [])
    if (!region.groups.has(id))
      throw invalid(
        `Error retrieving security group information for [${id}]: The security group '${id}' does not exist (ErrorCode: InvalidGroup.NotFound)`,
      );
  const subnet = region.subnets.get(given.subnets[0] as string) as Subnet;
  const groups =
    given.securityGroups ?? [...region.groups.values()].filter(({ name }) => name === 'default').map(({ id }) => id);
  return { subnet, groups, isPublic: given.assignPublicIp === 'ENABLED' };
}

function definitionFor({ region, nowMs, body }: Ask): TaskDefinition {
  purge(region, nowMs);
  const found = definitionNamed(region, String(body.taskDefinition));
  if (!found) throw clientError('TaskDefinition not found.');
  if (found.status !== 'ACTIVE') throw invalid('TaskDefinition is inactive');
  return found;
}

/** What the region has no room for, as RunTask says it beside a success. */
function shortage(region: Region, nowMs: number): string | undefined {
  const active = [...region.tasks.values()].filter((task) => isActive(task, nowMs));
  const vcpus = active.reduce((sum, { size }) => sum + Number(size.cpu) / 1_024, 0);
  if (vcpus >= (region.stock.vcpus.get('fargate') ?? Number.POSITIVE_INFINITY))
    return "You've reached the limit on the number of vCPUs you can run concurrently";
  if (active.length >= (region.stock.machines.get('fargate') ?? Number.POSITIVE_INFINITY))
    return 'Capacity is unavailable at this time. Please try again later or in a different availability zone';
  return undefined;
}

function timelineOf({ world, region, nowMs }: Ask, image: string): Step[] {
  const { bootMs, lateCapacityMs } = world.behaviour;
  const first: Step[] = [
    { atMs: nowMs, state: 'PROVISIONING' },
    { atMs: nowMs + bootMs / 4, state: 'PENDING' },
  ];
  const atMs = nowMs + Math.max(lateCapacityMs, bootMs / 2);
  const failed = (reason: string): Step[] => [
    ...first,
    { atMs, state: 'DEPROVISIONING', stop: { code: 'TaskFailedToStart', reason } },
    { atMs: atMs + 1_000, state: 'STOPPED', stop: { code: 'TaskFailedToStart', reason } },
  ];
  if (isPromiseOnly(region, 'fargate'))
    return failed('Capacity is unavailable at this time. Please try again later or in a different availability zone');
  if (region.missingImages.has(image))
    return failed(
      `CannotPullContainerError: pull image manifest has been retried 1 time(s): failed to resolve ref ${image}: ${image}: not found`,
    );
  return [...first, { atMs: nowMs + bootMs, state: 'RUNNING' }];
}

const addressOf = (first: number, sequence: number): string =>
  [first, (sequence >> 16) & 255, (sequence >> 8) & 255, sequence & 255].join('.');

function make(ask: Ask, definition: TaskDefinition): Task {
  const { world, region, nowMs, body } = ask;
  const { subnet, groups, isPublic } = networkOf(ask);
  const [container] = containersOf(definition);
  const { name = '', image = '' } = container ?? {};
  const overrides = (body.overrides ?? {}) as { readonly containerOverrides?: readonly Override[] };
  const override = overrides.containerOverrides?.find((one) => one.name === name);
  const stranger = overrides.containerOverrides?.find((one) => one.name !== name);
  if (stranger)
    throw invalid(`Override for container named ${stranger.name} is not a container in the TaskDefinition.`);
  const cluster = clusterNamed(ask);
  const id = Buffer.from(world.random.bytes(16)).toString('hex');
  const sequence = world.nextSequence();
  const { cpu, memory } = definition.body as { readonly cpu: string; readonly memory: string };
  return {
    arn: `arn:aws:ecs:${region.name}:${world.account}:task/${cluster}/${id}`,
    region: region.name,
    cluster,
    sequence,
    definition: definition.arn,
    family: definition.family,
    container: name,
    image,
    size: { cpu, memory },
    startedBy: body.startedBy as string | undefined,
    overrides,
    environment: new Map((override?.environment ?? []).map((one) => [one.name, one.value])),
    subnetId: subnet.id,
    zone: subnet.zone,
    groups,
    interfaceId: hexId('eni', world.random),
    privateIp: addressOf(10, sequence),
    publicIp: isPublic ? addressOf(54, sequence) : undefined,
    createdAtMs: nowMs,
    tags: (body.tags ?? []) as readonly Tag[],
    timeline: timelineOf(ask, image),
  };
}

function fingerprintOf({ body }: Ask): string {
  const { clientToken: _token, ...rest } = body;
  return JSON.stringify(Object.entries(rest).toSorted());
}

const conflict = (made: readonly Task[]) =>
  Object.assign(
    refusal(
      'ConflictException',
      'The RunTask request could not be processed due to conflicts. The provided clientToken is already in use with a different RunTask request.',
    ),
    { more: { resourceIds: made.map(({ arn }) => arn) } },
  );

/** A token that was used before names the tasks that it made; with other words it is a conflict, which names them too. */
function earlier(ask: Ask): readonly Task[] | undefined {
  const before = ask.region.taskLaunches.get(String(ask.body.clientToken ?? ''));
  if (before && before.fingerprint !== fingerprintOf(ask)) throw conflict(before.tasks);
  return before?.tasks;
}

export function runTask(ask: Ask): object {
  const { region, world, nowMs, body } = ask;
  clusterNamed(ask);
  checkRequest(ask);
  const shown = (tasks: readonly Task[]): object => ({
    tasks: tasks.map((task) => shownTask(task, world, nowMs, true)),
    failures: [],
  });
  const before = earlier(ask);
  if (before) return shown(before);
  const definition = definitionFor(ask);
  const reason = shortage(region, nowMs);
  if (reason !== undefined) return { tasks: [], failures: [{ arn: definition.arn, reason }] };
  const tasks = Array.from({ length: Number(body.count ?? 1) }, () => make(ask, definition));
  for (const task of tasks) region.tasks.set(task.arn, task);
  if (body.clientToken !== undefined)
    region.taskLaunches.set(String(body.clientToken), { fingerprint: fingerprintOf(ask), tasks });
  for (const task of tasks) world.taskChanged(task);
  return shown(tasks);
}
