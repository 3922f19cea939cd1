import type { Task } from '@aws-sdk/client-ecs';
import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Backend, Launch, Outcome, PendingCreate } from '#core/provider.ts';
import { createEach } from '#rest/creations.ts';
import { codeOf } from '../faults.ts';
import type { EcsConfig } from './config.ts';
import { definitionOf } from './definition.ts';
import type { Definitions } from './definitions.ts';
import { advised, endOf, notStarted } from './faults.ts';
import type { EcsPlace, TaskReader } from './listing.ts';
import { runRequest } from './request.ts';
import { wasStopped } from './task.ts';

// ECS may show a new task late: until then one that it does not know is pending.
const PENDING_MS = 10 * MINUTE_MS;

/** The tasks that an earlier call with the same token made; `resourceIds` of the exception names them. */
const madeBefore = (cause: unknown): readonly string[] =>
  codeOf(cause) === 'ConflictException' ? ((cause as { resourceIds?: readonly string[] }).resourceIds ?? []) : [];

export interface CreationDeps extends EcsPlace {
  readonly config: EcsConfig;
  readonly definitions: Pick<Definitions, 'use'>;
  /** Removes task definitions that no launch uses any more. */
  tidy(signal: AbortSignal): Promise<void>;
  readonly reader: TaskReader;
}

export function creationOf(deps: CreationDeps): Required<Pick<Backend, 'create' | 'check'>> {
  const { ecs, config, definitions, tidy, reader } = deps;
  const { clock, region } = ecs;
  const definition = definitionOf(config, region);

  const pending = (name: string, arn: string): Outcome => ({ name, operation: `${arn} ${clock.now()}` });

  async function run(launch: Launch, name: string, arn: string, signal: AbortSignal): Promise<Outcome> {
    const { id, names } = launch;
    const token = names.length === 1 ? id : `${id}-${names.indexOf(name)}`;
    const request = runRequest(config, launch, { name, definition: arn, token });
    try {
      const { tasks = [], failures = [] } = await ecs.ask('RunTask', request, { signal });
      const made = tasks[0]?.taskArn;
      if (made === undefined) throw notStarted(failures[0], region);
      return pending(name, made);
    } catch (thrown) {
      const fault = advised(thrown);
      // The definition of an earlier call is gone by now, so this one has other words under the same token.
      const [made] = madeBefore(fault.cause);
      if (made !== undefined) return pending(name, made);
      // Another server removed the definition meanwhile: nothing was run.
      if (/TaskDefinition is inactive/.test(fault.message)) throw new Fault('unavailable', fault.message, fault);
      throw fault;
    }
  }

  function outcomeOf(one: PendingCreate, task: Task | undefined): readonly Outcome[] {
    const madeAtMs = Number(one.operation.split(' ')[1]);
    if (!task) return clock.now() - madeAtMs < PENDING_MS ? [one] : [];
    if (task.lastStatus === 'STOPPED') return wasStopped(task) ? [] : [{ name: one.name, fault: endOf(task) }];
    return [task.lastStatus === 'RUNNING' ? { name: one.name } : one];
  }

  return {
    async create(launch, signal) {
      const outcomes = await definitions
        .use(definition, signal, (arn) => createEach(launch, signal, (name) => run(launch, name, arn, signal)))
        .catch((thrown) => {
          throw advised(thrown);
        });
      // Where nothing was made, this cloud may never be listed again.
      const isRefused = outcomes.length === launch.names.length && outcomes.every(({ fault }) => fault);
      if (isRefused) await tidy(signal);
      return outcomes;
    },
    async check(creations, signal) {
      const arnOf = ({ operation }: PendingCreate): string => operation.split(' ')[0] ?? '';
      const byArn = new Map(
        (await reader.describe(creations.map(arnOf), signal)).map((task) => [task.taskArn, task] as const),
      );
      return creations.flatMap((one) => outcomeOf(one, byArn.get(arnOf(one))));
    },
  };
}
