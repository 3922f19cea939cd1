import { cursorOf, inOrder, pageOf } from '#fakes/paging.ts';
import { refusal } from '#fakes/refusal.ts';
import type { Ask, World } from '../world.ts';
import { clusterNamed } from './run-task.ts';
import { endTask, shownTask, stopAt, stoppedAtMs, type Task } from './task.ts';
import { purge } from './task-definition.ts';

const invalid = (message: string) => refusal('InvalidParameterException', message);
const PAGE = 100;

/** Listings show the world as it was a while ago. */
function seenAtMs({ behaviour: { listLagMs } }: World, { arn }: Task, nowMs: number): number {
  return nowMs - (typeof listLagMs === 'number' ? listLagMs : listLagMs(arn));
}

const isForgotten = (task: Task, { behaviour }: World, nowMs: number): boolean =>
  nowMs - (stoppedAtMs(task) ?? nowMs) > behaviour.keepTerminatedMs;

/** A page of anything that ECS lists. */
export function ecsPage<T>({ world, nowMs, body }: Ask, items: readonly T[], keyOf: (item: T) => string) {
  const { nextToken: token, maxResults, ...question } = body;
  const size = Number(maxResults ?? PAGE);
  if (!(size >= 1 && size <= PAGE)) throw invalid(`maxResults should be between 1 and ${PAGE}.`);
  const { emptyPages, tokenLifeMs, largestPage } = world.behaviour;
  const asked = {
    of: JSON.stringify(question),
    token: token as string | undefined,
    size: Math.min(size, largestPage),
    nowMs,
    emptyPages,
    tokenLifeMs,
  };
  const cursor = cursorOf(asked);
  if (!cursor) throw invalid('Invalid token.');
  const page = pageOf(asked, cursor, inOrder(items, keyOf));
  return { items: page.items, nextToken: page.token };
}

const orderOf = ({ sequence }: Task): string => String(sequence).padStart(12, '0');

/** With `startedBy` no other filter may stand, except for the cluster. */
export function listTasks(ask: Ask): object {
  const { region, world, nowMs, body } = ask;
  const cluster = clusterNamed(ask);
  const { startedBy, family, desiredStatus = 'RUNNING', launchType } = body;
  if (startedBy !== undefined && (family ?? body.desiredStatus ?? launchType) !== undefined)
    throw invalid('startedBy must be the only filter.');
  const passes = (task: Task): boolean => {
    const atMs = seenAtMs(world, task, nowMs);
    const desired = stopAt(task, atMs) ? 'STOPPED' : 'RUNNING';
    return (
      task.createdAtMs <= atMs &&
      task.cluster === cluster &&
      !isForgotten(task, world, atMs) &&
      desired === desiredStatus &&
      (startedBy === undefined || task.startedBy === startedBy) &&
      (family === undefined || task.family === family)
    );
  };
  const found = world.behaviour.hidesAll ? [] : [...region.tasks.values()].filter(passes);
  const { items, nextToken } = ecsPage(
    ask,
    found.toSorted((a, b) => a.sequence - b.sequence),
    orderOf,
  );
  return { taskArns: items.map(({ arn }) => arn), nextToken };
}

/** By ARN or id, of the same cluster. */
function taskNamed({ region, world, nowMs }: Ask, cluster: string, named: string): Task | undefined {
  const task = region.tasks.get(named) ?? [...region.tasks.values()].find(({ arn }) => arn.endsWith(`/${named}`));
  if (task?.cluster !== cluster) return undefined;
  const atMs = seenAtMs(world, task, nowMs);
  return task.createdAtMs <= atMs && !isForgotten(task, world, atMs) ? task : undefined;
}

export function describeTasks(ask: Ask): object {
  const { world, nowMs, body } = ask;
  const cluster = clusterNamed(ask);
  const named = body.tasks as readonly string[];
  if (named.length === 0) throw invalid('Tasks cannot be empty.');
  if (named.length > PAGE) throw invalid(`Tasks can have at most ${PAGE} entries.`);
  const showsTags = ((body.include ?? []) as readonly string[]).includes('TAGS');
  const tasks: object[] = [];
  const failures: object[] = [];
  for (const arn of named) {
    const task = taskNamed(ask, cluster, arn);
    if (task) tasks.push(shownTask(task, world, seenAtMs(world, task, nowMs), showsTags));
    else failures.push({ arn, reason: 'MISSING' });
  }
  return { tasks, failures };
}

/** Stopping what stops or has stopped changes nothing. The tags of the task are gone at once. */
export function stopTask(ask: Ask): object {
  const { region, world, nowMs, body } = ask;
  const task = taskNamed(ask, clusterNamed(ask), String(body.task));
  if (!task) throw invalid('The referenced task was not found.');
  task.tags = [];
  endTask(world, task, { code: 'UserInitiated', reason: String(body.reason ?? 'Task stopped by user') });
  purge(region, nowMs);
  return { task: shownTask(task, world, nowMs, false) };
}
