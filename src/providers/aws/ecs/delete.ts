import type { Task } from '@aws-sdk/client-ecs';
import { Fault } from '#core/fault.ts';
import type { Machine, Outcome } from '#core/provider.ts';
import { markOf, NAME } from '../marks.ts';
import type { EcsPlace, TaskListing, TaskReader } from './listing.ts';
import { starterOf } from './request.ts';
import { isEnding, tagsOf } from './task.ts';

export interface DeletionDeps extends EcsPlace {
  readonly reader: TaskReader;
  readonly listing: TaskListing;
}

/** Stops the tasks of machines; each has its own outcome. A task is looked up first: only what bears our mark is stopped. */
export function deletionOf({ ecs, cluster, clusterName, reader, listing }: DeletionDeps) {
  const isOurs = (task: Task): boolean => {
    if (markOf(tagsOf(task))?.cluster === cluster) return true;
    // ECS takes all tags away from a task that it stops, and may show it a while as it was before.
    return tagsOf(task).size === 0 && task.startedBy === starterOf(cluster);
  };

  async function stop(task: Task, signal: AbortSignal): Promise<void> {
    const input = { cluster: clusterName, task: task.taskArn, reason: 'Muster removes the machine.' };
    await ecs.ask('StopTask', input, { signal }).catch((thrown) => {
      const fault = Fault.from(thrown);
      if (!/task was not found/i.test(fault.message)) throw fault;
    });
  }

  async function deleteOne({ name, mark }: Machine, tasks: readonly Task[], signal: AbortSignal): Promise<Outcome> {
    if (mark?.cluster !== cluster || !tasks.every(isOurs))
      return { name, fault: new Fault('denied', `${name} is not a machine of this cluster.`) };
    try {
      for (const task of tasks) {
        listing.dismiss(task);
        if (!isEnding(task)) await stop(task, signal);
      }
      return { name };
    } catch (thrown) {
      return { name, fault: Fault.from(thrown) };
    }
  }

  return async (machines: readonly Machine[], signal: AbortSignal): Promise<readonly Outcome[]> => {
    if (signal.aborted) throw new Fault('unavailable', 'The call was cancelled.');
    const ids = machines.flatMap(({ id }) => id ?? []);
    // Without an id only its tags tell which one it is.
    const isNameless = machines.some(({ id, mark }) => id === undefined && mark?.cluster === cluster);
    const listed = isNameless ? await reader.arns(signal) : [];
    const tasks = await reader.describe([...ids, ...listed], signal);
    const byName = Map.groupBy(tasks, (task) => tagsOf(task).get(NAME));
    const byArn = Map.groupBy(tasks, ({ taskArn }) => taskArn);
    return Promise.all(
      machines.map((machine) => {
        const { id, name } = machine;
        return deleteOne(machine, (id === undefined ? byName.get(name) : byArn.get(id)) ?? [], signal);
      }),
    );
  };
}
