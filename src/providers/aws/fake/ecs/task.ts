import { follow, stepAt, type Step as TimedStep } from '#fakes/timeline.ts';
import type { World } from '../world.ts';

export type LastStatus = 'PROVISIONING' | 'PENDING' | 'RUNNING' | 'STOPPING' | 'DEPROVISIONING' | 'STOPPED';

/** Why a task ends or has ended. */
export interface Stop {
  readonly code: 'TaskFailedToStart' | 'EssentialContainerExited' | 'UserInitiated' | 'SpotInterruption';
  readonly reason: string;
  /** Of its container, where that ran. */
  readonly exitCode?: number | undefined;
}

/** From then on the task is in that state; with `stop` its desired status is STOPPED. */
export interface Step extends TimedStep<LastStatus> {
  readonly stop?: Stop | undefined;
}

export interface Tag {
  readonly key: string;
  readonly value?: string;
}

/** A task as ECS keeps it. Its states lie on a line of time. */
export interface Task {
  readonly arn: string;
  readonly region: string;
  readonly cluster: string;
  /** In the order of making, over all regions. */
  readonly sequence: number;
  /** ARN of its definition. */
  readonly definition: string;
  readonly family: string;
  readonly container: string;
  readonly image: string;
  readonly size: { readonly cpu: string; readonly memory: string };
  readonly startedBy: string | undefined;
  readonly overrides: Readonly<Record<string, unknown>>;
  readonly environment: ReadonlyMap<string, string>;
  readonly subnetId: string;
  readonly zone: string;
  readonly groups: readonly string[];
  readonly interfaceId: string;
  readonly privateIp: string;
  readonly publicIp: string | undefined;
  readonly createdAtMs: number;
  /** Empty once a stop was asked for: ECS takes them away. */
  tags: readonly Tag[];
  timeline: readonly Step[];
}

export const statusAt = ({ timeline }: Task, atMs: number): LastStatus =>
  stepAt(timeline, atMs)?.state ?? 'PROVISIONING';

/** Why its desired status is STOPPED; nothing while it is to run. */
export const stopAt = ({ timeline }: Task, atMs: number): Stop | undefined => stepAt(timeline, atMs)?.stop;

export const isActive = (task: Task, atMs: number): boolean => statusAt(task, atMs) !== 'STOPPED';

/** When it came to its end, or will; nothing while no end is known. */
export function stoppedAtMs({ timeline }: Task): number | undefined {
  const last = timeline.at(-1);
  return last?.state === 'STOPPED' ? last.atMs : undefined;
}

/** It stops: as somebody asked, or because its container has ended. */
export function endTask(world: World, task: Task, stop: Stop): void {
  const atMs = world.clock.now();
  if (stopAt(task, atMs)) return;
  const { terminateMs } = world.behaviour;
  const stopped = { atMs: atMs + terminateMs, state: 'STOPPED', stop } as const;
  const first: Step =
    stop.code === 'UserInitiated'
      ? { atMs, state: 'STOPPING', stop: { ...stop, exitCode: undefined } }
      : { atMs, state: 'DEPROVISIONING', stop };
  task.timeline = follow(task.timeline, [
    first,
    { atMs: atMs + terminateMs / 2, state: 'DEPROVISIONING', stop },
    stopped,
  ]);
  world.taskChanged(task);
}

const seconds = (ms: number | undefined): number | undefined => ms && ms / 1_000;

const since = ({ timeline }: Task, state: LastStatus, atMs: number): number | undefined =>
  timeline.find((step) => step.state === state && step.atMs <= atMs)?.atMs;

/** As DescribeTasks tells it. */
export function shownTask(task: Task, { account }: World, atMs: number, showsTags: boolean): object {
  const { arn, region, cluster, definition, startedBy, overrides, createdAtMs, container, image } = task;
  const stop = stopAt(task, atMs);
  const lastStatus = statusAt(task, atMs);
  const details = { subnetId: task.subnetId, networkInterfaceId: task.interfaceId, privateIPv4Address: task.privateIp };
  return {
    taskArn: arn,
    clusterArn: `arn:aws:ecs:${region}:${account}:cluster/${cluster}`,
    taskDefinitionArn: definition,
    availabilityZone: task.zone,
    lastStatus,
    desiredStatus: stop ? 'STOPPED' : 'RUNNING',
    launchType: 'FARGATE',
    group: `family:${task.family}`,
    ...task.size,
    startedBy,
    overrides,
    attachments: [
      {
        id: arn.slice(arn.lastIndexOf('/') + 1),
        type: 'ElasticNetworkInterface',
        status: lastStatus === 'PROVISIONING' ? 'PRECREATED' : isActive(task, atMs) ? 'ATTACHED' : 'DELETED',
        // There is none before it is provisioned.
        details: lastStatus === 'PROVISIONING' ? [] : Object.entries(details).map(([name, value]) => ({ name, value })),
      },
    ],
    containers: [
      {
        name: container,
        image,
        lastStatus: ['RUNNING', 'STOPPED'].includes(lastStatus) ? lastStatus : 'PENDING',
        ...(lastStatus === 'STOPPED' && stop?.exitCode !== undefined && { exitCode: stop.exitCode }),
      },
    ],
    createdAt: seconds(createdAtMs),
    startedAt: seconds(since(task, 'RUNNING', atMs)),
    stoppingAt: seconds(task.timeline.find((step) => step.stop && step.atMs <= atMs)?.atMs),
    stoppedAt: seconds(since(task, 'STOPPED', atMs)),
    ...(stop && { stopCode: stop.code, stoppedReason: stop.reason }),
    ...(showsTags && { tags: task.tags }),
  };
}
