import { SECOND_MS } from '#core/clock.ts';
import type { Bootable } from '#fakes/boot/machine.ts';
import { follow, nextStepMs, type Step, stepAt } from '#fakes/timeline.ts';

/** `PREEMPTING` is shown as STOPPING, and still runs. */
type State = 'PROVISIONING' | 'STAGING' | 'RUNNING' | 'PREEMPTING' | 'STOPPING' | 'TERMINATED' | 'GONE';

export interface RunTime {
  readonly ms: number;
  readonly action: 'DELETE' | 'STOP';
}

/** An instance as Compute Engine keeps it. */
export interface FakeInstance {
  readonly id: string;
  readonly project: string;
  readonly zone: string;
  readonly name: string;
  readonly machineType: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly isSpot: boolean;
  /** After so long in RUNNING Google ends it. */
  readonly runTime?: RunTime | undefined;
  /** Whether it has an external address. */
  readonly isPublic?: boolean | undefined;
  /** The path of the image that it was made from; absent: that of a template. */
  readonly image?: string | undefined;
  readonly madeAtMs: number;
  preemptedAtMs: number | undefined;
  timeline: readonly Step<State>[];
}

/** Undefined before it is made. */
export const statusAt = ({ timeline }: FakeInstance, nowMs: number): State | undefined =>
  stepAt(timeline, nowMs)?.state;

export const shownStatus = (state: State): string => (state === 'PREEMPTING' ? 'STOPPING' : state);

/** Whether it exists and has not begun to end. */
export const isLiving = (instance: FakeInstance, nowMs: number): boolean =>
  ['PROVISIONING', 'STAGING', 'RUNNING', 'PREEMPTING'].includes(statusAt(instance, nowMs) ?? 'GONE');

export const isGone = (instance: FakeInstance, nowMs: number): boolean =>
  (statusAt(instance, nowMs) ?? 'GONE') === 'GONE';

export function change(instance: FakeInstance, steps: readonly [Step<State>, ...Step<State>[]]): void {
  instance.timeline = follow(instance.timeline, steps);
}

const iso = (ms: number): string => new Date(ms).toISOString().replace('Z', '+00:00');

export const urlOf = (project: string, path: string): string =>
  `https://www.googleapis.com/compute/v1/projects/${project}/${path}`;

function addressOf(id: string, network: string): string {
  const number = Number(BigInt(id) % 65_536n);
  return `${network}.${number >> 8}.${number & 255}`;
}

export const innerAddress = ({ id }: FakeInstance): string => addressOf(id, '10.128');
export const outerAddress = ({ id, isPublic }: FakeInstance): string | undefined =>
  isPublic ? addressOf(id, '34.60') : undefined;

const startedAt = ({ timeline }: FakeInstance, nowMs: number): number | undefined =>
  timeline.findLast(({ atMs, state }) => state === 'RUNNING' && atMs <= nowMs)?.atMs;

/** When it last entered RUNNING, and when Google ends it, as long as it runs. */
function shownTimes(instance: FakeInstance, nowMs: number): Readonly<Record<string, unknown>> {
  const { runTime } = instance;
  const atMs = startedAt(instance, nowMs);
  if (atMs === undefined) return {};
  const isLimited = runTime !== undefined && statusAt(instance, nowMs) === 'RUNNING';
  const scheduling = isLimited && { scheduling: { terminationTimestamp: iso(atMs + runTime.ms) } };
  return { lastStartTimestamp: iso(atMs), ...(scheduling && { resourceStatus: scheduling }) };
}

function shownInterface(instance: FakeInstance): object {
  const natIP = outerAddress(instance);
  return {
    ...{ kind: 'compute#networkInterface', name: 'nic0', networkIP: innerAddress(instance) },
    ...(natIP && {
      accessConfigs: [{ kind: 'compute#accessConfig', type: 'ONE_TO_ONE_NAT', name: 'External NAT', natIP }],
    }),
  };
}

/** As the API shows it. */
export function shown(instance: FakeInstance, nowMs: number): Readonly<Record<string, unknown>> {
  const { id, project, zone, name, machineType, labels, metadata, isSpot, madeAtMs, runTime } = instance;
  return {
    kind: 'compute#instance',
    id,
    name,
    creationTimestamp: iso(madeAtMs),
    status: shownStatus(statusAt(instance, nowMs) ?? 'PROVISIONING'),
    zone: urlOf(project, `zones/${zone}`),
    machineType: urlOf(project, `zones/${zone}/machineTypes/${machineType}`),
    selfLink: urlOf(project, `zones/${zone}/instances/${name}`),
    labels,
    metadata: { kind: 'compute#metadata', items: Object.entries(metadata).map(([key, value]) => ({ key, value })) },
    scheduling: {
      ...{ provisioningModel: isSpot ? 'SPOT' : 'STANDARD', preemptible: isSpot },
      ...(runTime && {
        maxRunDuration: { seconds: String(runTime.ms / SECOND_MS), nanos: 0 },
        instanceTerminationAction: runTime.action,
      }),
    },
    ...shownTimes(instance, nowMs),
    networkInterfaces: [shownInterface(instance)],
  };
}

/** The metadata server of one machine. */
function metadataOf(instance: FakeInstance): (request: Request) => Response {
  const { id, name, zone, metadata } = instance;
  return (request) => {
    if (request.headers.get('metadata-flavor') !== 'Google')
      return new Response('Missing Metadata-Flavor:Google header.', { status: 403 });
    const path = new URL(request.url).pathname.replace('/computeMetadata/v1/instance/', '');
    const leaves: Readonly<Record<string, string | undefined>> = {
      name,
      id,
      zone: `projects/1/zones/${zone}`,
      preempted: instance.preemptedAtMs === undefined ? 'FALSE' : 'TRUE',
    };
    const found = path.startsWith('attributes/') ? metadata[path.replace('attributes/', '')] : leaves[path];
    return found === undefined ? new Response('not found', { status: 404 }) : new Response(found);
  };
}

/** The instance as those see it who run machines. */
export function bootable(instance: FakeInstance, poweredOff: () => void): Bootable {
  return {
    id: instance.id,
    state(nowMs) {
      const state = statusAt(instance, nowMs);
      if (state === 'GONE') return 'gone';
      return state === 'RUNNING' || state === 'PREEMPTING' ? 'running' : 'off';
    },
    nextChangeMs: (nowMs) => nextStepMs(instance.timeline, nowMs),
    scripts: () => [instance.metadata['startup-script'] ?? ''].filter(Boolean),
    openMetadata: () => metadataOf(instance),
    poweredOff,
    environment: (address) => ({ GCE_METADATA_HOST: address.replace('http://', '') }),
  };
}

/** The ids of the instances that a call is about, by their paths. */
export function instancesNamed(
  { instances }: { readonly instances: readonly FakeInstance[] },
  path: string,
  body: Readonly<Record<string, unknown>>,
): string[] {
  const paths = [path, ...(Array.isArray(body.instances) ? body.instances : [])];
  const named = paths.flatMap((one) => /zones\/([^/]+\/instances\/[^/]+)/.exec(String(one))?.[1] ?? []);
  if (named.length === 0) return [];
  const wanted = new Set(named);
  return instances.flatMap(({ id, zone, name }) => (wanted.has(`${zone}/instances/${name}`) ? id : []));
}
