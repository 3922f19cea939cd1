// All tasks of one cluster of Muster in one cluster of ECS. A listing shows those that are to run; those that are ending, whose
// tags are gone, are remembered from earlier listings and asked for by themselves.
import type { Task } from '@aws-sdk/client-ecs';
import { chunked } from '#core/chunked.ts';
import { Fault } from '#core/fault.ts';
import type { Machine } from '#core/provider.ts';
import { inPages, retried } from '#rest/retry.ts';
import type { EcsCalls, Service } from '../client.ts';
import type { Addresses } from './addresses.ts';
import { starterOf } from './request.ts';
import { identityOf, interfaceOf, isEnding, type KnownTask, machineOf } from './task.ts';

// As many as a page holds, and as one call describes.
const PAGE = 100;

export interface TaskReader {
  /** ARNs of all tasks of ours that are to run, every page, or throws. */
  arns(signal: AbortSignal): Promise<readonly string[]>;
  /** Those that ECS knows: it forgets a task about an hour after its end, and shows a new one late. */
  describe(arns: readonly string[], signal: AbortSignal): Promise<readonly Task[]>;
}

export interface EcsPlace {
  readonly ecs: Service<EcsCalls>;
  /** Of Muster. */
  readonly cluster: string;
  /** Of ECS. */
  readonly clusterName: string;
}

export function openReader({ ecs, cluster, clusterName }: EcsPlace): TaskReader {
  return {
    async arns(signal) {
      const found: string[] = [];
      await inPages(ecs.clock, signal, async (token) => {
        // With `startedBy` no other filter may stand; tasks that are to run are the default.
        const input = { cluster: clusterName, startedBy: starterOf(cluster), maxResults: PAGE };
        const page = await ecs.ask('ListTasks', { ...input, ...(token ? { nextToken: token } : {}) }, { signal });
        if (!page.taskArns) throw new Fault('unavailable', 'ECS answered a listing without a list of tasks.');
        found.push(...page.taskArns);
        return page.nextToken;
      });
      return found;
    },
    async describe(arns, signal) {
      const described: Task[] = [];
      for (const tasks of chunked([...new Set(arns)], PAGE)) {
        const input = { cluster: clusterName, tasks, include: ['TAGS' as const] };
        const { tasks: some, failures = [] } = await retried(ecs.clock, signal, () =>
          ecs.ask('DescribeTasks', input, { signal }),
        );
        const broken = failures.find(({ reason }) => reason !== 'MISSING');
        if (broken || !some)
          throw new Fault(
            'unavailable',
            `ECS did not describe ${broken?.arn ?? 'tasks'}: ${broken?.reason ?? 'no list'}.`,
          );
        described.push(...some);
      }
      return described;
    },
  };
}

export interface TaskListing {
  list(signal: AbortSignal): Promise<readonly Machine[]>;
  /** Its machine is deleted: it is shown until it has stopped, and not as failed then. Called while it still has its tags. */
  dismiss(task: Task): void;
}

export function openListing(reader: TaskReader, cluster: string, addresses: Addresses): TaskListing {
  const known = new Map<string, KnownTask>();

  function remember(task: Task): KnownTask | undefined {
    const { taskArn = '' } = task;
    const identity = identityOf(task, known.get(taskArn));
    if (identity?.machine.mark?.cluster !== cluster) return undefined;
    known.set(taskArn, identity);
    return identity;
  }

  return {
    dismiss(task) {
      const identity = remember(task);
      if (identity) known.set(task.taskArn ?? '', { ...identity, isDismissed: true });
    },
    async list(signal) {
      const listed = await reader.arns(signal);
      const tasks = await reader.describe([...listed, ...known.keys()], signal);
      const there = new Set(tasks.map(({ taskArn }) => taskArn));
      for (const arn of known.keys()) if (!there.has(arn)) known.delete(arn);
      const ours = tasks.flatMap((task) => {
        // One that is ending and was never seen: its tags are gone, and its end is near.
        const identity = remember(task);
        return identity ? [{ task, identity }] : [];
      });
      const serving = ours.filter(({ task, identity }) => identity.port !== undefined && !isEnding(task));
      const ips = await addresses.of(
        serving.flatMap(({ task }) => interfaceOf(task) ?? []),
        signal,
      );
      return ours.flatMap(({ task, identity }) => {
        const machine = machineOf(task, identity, ips.get(interfaceOf(task) ?? ''));
        if (!machine) known.delete(task.taskArn ?? '');
        return machine ?? [];
      });
    },
  };
}
