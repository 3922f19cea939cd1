import { follow as followed, stepAt as stepOf, type Step as TimedStep } from '#fakes/timeline.ts';

export type StateName = 'pending' | 'running' | 'shutting-down' | 'terminated' | 'stopping' | 'stopped';

export const STATE_CODES: Readonly<Record<StateName, number>> = {
  pending: 0,
  running: 16,
  'shutting-down': 32,
  terminated: 48,
  stopping: 64,
  stopped: 80,
};

export interface StateReason {
  readonly code: string;
  readonly message: string;
}

/** From then on the instance is in that state. */
export interface Step extends TimedStep<StateName> {
  readonly reason?: StateReason | undefined;
}

/** An instance as EC2 keeps it. Its states lie on a line of time, so nothing must happen for one to follow another. */
export interface Instance {
  readonly id: string;
  readonly region: string;
  readonly zone: string;
  readonly reservation: string;
  /** In the order of making, over all regions. */
  readonly sequence: number;
  readonly launchIndex: number;
  readonly imageId: string;
  readonly type: string;
  readonly vcpus: number;
  readonly architecture: string;
  readonly subnetId: string;
  readonly vpcId: string;
  readonly groups: readonly { readonly id: string; readonly name: string }[];
  readonly keyName: string | undefined;
  readonly profile: string | undefined;
  /** Base64, as it was given. */
  readonly userData: string | undefined;
  readonly clientToken: string | undefined;
  readonly spotRequest: string | undefined;
  readonly privateIp: string;
  readonly publicIp: string | undefined;
  /** What becomes of it when it is shut down from within. */
  readonly atShutdown: 'stop' | 'terminate';
  /** Whether IMDS shows its tags. */
  readonly showsTags: boolean;
  readonly createdAtMs: number;
  /** Changes with each start. */
  launchedAtMs: number;
  readonly tags: Map<string, string>;
  timeline: readonly Step[];
  /** Set when AWS has said that it takes a spot instance back. */
  interruption: { readonly action: 'terminate' | 'stop'; readonly atMs: number } | undefined;
}

/** The state at a moment; nothing before it was made. */
export function stepAt(instance: Instance, atMs: number): Step | undefined {
  return stepOf(instance.timeline, atMs);
}

export function stateAt(instance: Instance, atMs: number): StateName {
  return stepAt(instance, atMs)?.state ?? 'pending';
}

/** Sets what is to come, from the first of these steps on; what comes before it is kept. */
export function follow(instance: Instance, steps: readonly [Step, ...Step[]]): void {
  instance.timeline = followed(instance.timeline, steps);
}

export function isOver(instance: Instance, atMs: number): boolean {
  const state = stateAt(instance, atMs);
  return state === 'terminated' || state === 'shutting-down';
}

/** When it came to its end; nothing while it has not. */
export function endedAtMs(instance: Instance): number | undefined {
  const last = instance.timeline.at(-1);
  return last?.state === 'terminated' ? last.atMs : undefined;
}
