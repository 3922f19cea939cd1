import { type Refusal, refusal } from '#fakes/refusal.ts';
import type { Region } from '../region.ts';
import type { Ask } from '../world.ts';
import { isActive } from './task.ts';

type Body = Readonly<Record<string, unknown>>;

export interface ContainerDefinition {
  readonly name: string;
  readonly image: string;
  readonly logConfiguration?: { readonly logDriver: string };
}

/** One revision of a task definition. */
export interface TaskDefinition {
  readonly arn: string;
  readonly family: string;
  readonly revision: number;
  /** As it was registered. */
  readonly body: Body;
  readonly tags: readonly unknown[];
  readonly registeredAtMs: number;
  status: 'ACTIVE' | 'INACTIVE' | 'DELETE_IN_PROGRESS';
}

export const clientError = (message: string): Refusal => refusal('ClientException', message);

export const keyOf = ({ family, revision }: Pick<TaskDefinition, 'family' | 'revision'>): string =>
  `${family}:${revision}`;

export const containersOf = ({ body }: TaskDefinition): readonly ContainerDefinition[] =>
  (body.containerDefinitions ?? []) as readonly ContainerDefinition[];

// Amazon ECS Developer Guide, "Task size": memory in MiB for each size of CPU, in steps of a GiB beyond the first.
const GIB = 1_024;
const between = (least: number, most: number, step = 1): number[] =>
  Array.from({ length: (most - least) / step + 1 }, (_, at) => (least + at * step) * GIB);
const SIZES: Readonly<Record<string, readonly number[]>> = {
  256: [512, ...between(1, 2)],
  512: between(1, 4),
  1024: between(2, 8),
  2048: between(4, 16),
  4096: between(8, 30),
  8192: between(16, 60, 4),
  16384: between(32, 120, 8),
};

function checkFargate(body: Body): void {
  const { networkMode, cpu, memory, executionRoleArn, containerDefinitions } = body;
  if (networkMode !== 'awsvpc') throw clientError('Fargate only supports network mode ‘awsvpc’.');
  if (!SIZES[String(cpu)]?.includes(Number(memory)))
    throw clientError(
      `No Fargate configuration exists for given values: ${cpu} CPU, ${memory} memory. See the Amazon ECS documentation for the valid values.`,
    );
  for (const { image, logConfiguration } of containerDefinitions as readonly ContainerDefinition[]) {
    if (executionRoleArn !== undefined) continue;
    const needs = 'Fargate requires task definition to have execution role ARN to support';
    if (logConfiguration?.logDriver === 'awslogs') throw clientError(`${needs} log driver awslogs.`);
    if (/\.dkr\.ecr\./.test(image)) throw clientError(`${needs} ECR images.`);
  }
}

function checkRegistration(body: Body): void {
  if (!/^[A-Za-z0-9_-]{1,255}$/.test(String(body.family)))
    throw clientError('Family contains invalid characters. Only alphanumeric, hyphen and underscore are allowed.');
  const containers = (body.containerDefinitions ?? []) as readonly ContainerDefinition[];
  if (containers.length === 0) throw clientError('Container list cannot be empty.');
  for (const { name, image } of containers) {
    if (!/^[A-Za-z0-9_-]{1,255}$/.test(name ?? '')) throw clientError('Container.name contains invalid characters.');
    if (!image) throw clientError('Container.image should not be null or empty.');
  }
  if ((body.requiresCompatibilities as readonly string[] | undefined)?.includes('FARGATE')) checkFargate(body);
}

function shown(definition: TaskDefinition): object {
  const { arn: taskDefinitionArn, family, revision, status, body, registeredAtMs } = definition;
  const { tags: _tags, ...rest } = body;
  return { ...rest, taskDefinitionArn, family, revision, status, registeredAt: registeredAtMs / 1_000 };
}

/** ECS deletes for good what no task uses any more. */
export function purge(region: Region, nowMs: number): void {
  const used = new Set<string>();
  for (const task of region.tasks.values()) if (isActive(task, nowMs)) used.add(task.definition);
  for (const [key, { status, arn, family }] of region.taskDefinitions) {
    if (status !== 'DELETE_IN_PROGRESS' || used.has(arn)) continue;
    region.taskDefinitions.delete(key);
    if (![...region.taskDefinitions.values()].some((one) => one.family === family)) region.lastRevisions.delete(family);
  }
}

export function registerTaskDefinition({ region, world, nowMs, body }: Ask): object {
  checkRegistration(body);
  purge(region, nowMs);
  const family = String(body.family);
  const revision = (region.lastRevisions.get(family) ?? 0) + 1;
  region.lastRevisions.set(family, revision);
  const arn = `arn:aws:ecs:${region.name}:${world.account}:task-definition/${family}:${revision}`;
  const tags = (body.tags ?? []) as readonly unknown[];
  const definition: TaskDefinition = { arn, family, revision, body, tags, registeredAtMs: nowMs, status: 'ACTIVE' };
  region.taskDefinitions.set(keyOf(definition), definition);
  return { taskDefinition: shown(definition), tags };
}

/** By `family:revision` or ARN; by a family alone its newest active revision. */
export function definitionNamed(region: Region, named: string): TaskDefinition | undefined {
  const name = named.replace(/^arn:.*:task-definition\//, '');
  if (name.includes(':')) return region.taskDefinitions.get(name);
  const active = [...region.taskDefinitions.values()].filter((one) => one.family === name && one.status === 'ACTIVE');
  return active.toSorted((a, b) => a.revision - b.revision).at(-1);
}

function mustFind({ region, nowMs }: Ask, named: unknown): TaskDefinition {
  purge(region, nowMs);
  const found = definitionNamed(region, String(named));
  if (!found) throw clientError('Unable to describe task definition.');
  return found;
}

export function describeTaskDefinition(ask: Ask): object {
  const found = mustFind(ask, ask.body.taskDefinition);
  const include = (ask.body.include ?? []) as readonly string[];
  return { taskDefinition: shown(found), ...(include.includes('TAGS') && { tags: found.tags }) };
}

/** Deregistering what is inactive changes nothing. */
export function deregisterTaskDefinition(ask: Ask): object {
  const named = String(ask.body.taskDefinition);
  if (!/:\d+$/.test(named)) throw clientError('A revision must be specified.');
  const found = mustFind(ask, named);
  if (found.status === 'ACTIVE') found.status = 'INACTIVE';
  return { taskDefinition: shown(found) };
}

const MOST_DELETED = 10;

export function deleteTaskDefinitions(ask: Ask): object {
  const { region, nowMs, body } = ask;
  const named = body.taskDefinitions as readonly string[];
  if (named.length > MOST_DELETED)
    throw refusal('InvalidParameterException', `The number of task definitions must be at most ${MOST_DELETED}.`);
  purge(region, nowMs);
  const failures: object[] = [];
  const taskDefinitions: object[] = [];
  for (const arn of named) {
    const found = definitionNamed(region, arn);
    if (!found)
      failures.push({ arn, reason: 'TASK_DEFINITION_NOT_FOUND', detail: 'The task definition was not found.' });
    else if (found.status === 'ACTIVE')
      failures.push({
        arn,
        reason: 'TASK_DEFINITION_ACTIVE',
        detail: 'The specified task definition is still in ACTIVE status. Please deregister it and try again.',
      });
    else {
      found.status = 'DELETE_IN_PROGRESS';
      taskDefinitions.push(shown(found));
    }
  }
  purge(region, nowMs);
  return { taskDefinitions, failures };
}
