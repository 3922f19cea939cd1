import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Bootable } from '#fakes/boot/machine.ts';
import { scriptsIn } from '#fakes/boot/user-data.ts';
import { nextStepMs, type Step, stepAt } from '#fakes/timeline.ts';
import { type InstanceSchema, type InstanceSpec, InstanceSpecSchema, InstanceState } from '../gen/nebius_pb.ts';

type State = 'CREATING' | 'STARTING' | 'RUNNING' | 'STOPPING' | 'STOPPED' | 'DELETING' | 'ERROR' | 'gone';

/** An instance as Nebius keeps it; its managed disks come and go with it. */
export interface FakeInstance {
  readonly id: string;
  readonly parent: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: InstanceSpec;
  readonly madeAtMs: number;
  /** Its creation fails after it was agreed to. */
  readonly isStillborn: boolean;
  timeline: readonly Step<State>[];
}

export type InstanceStep = Step<State>;

/** Nothing before it was made. */
export const stateAt = ({ timeline }: FakeInstance, nowMs: number): State | undefined => stepAt(timeline, nowMs)?.state;

export const existsAt = (instance: FakeInstance, nowMs: number): boolean =>
  ![undefined, 'gone'].includes(stateAt(instance, nowMs));

function addressOf({ id }: FakeInstance): string {
  const number = Number.parseInt(id.slice(-6), 10);
  return `10.2.${(number >> 8) & 255}.${number & 255}/32`;
}

/** As the API shows it. */
export function shownInstance(instance: FakeInstance, nowMs: number): MessageInitShape<typeof InstanceSchema> {
  const { id, parent, name, labels, spec, madeAtMs } = instance;
  const state = stateAt(instance, nowMs);
  const isUp = state === 'RUNNING';
  return {
    metadata: { id, parentId: parent, name, labels: { ...labels }, createdAt: timestampFromMs(madeAtMs) },
    // Sensitive fields are not shown.
    spec: create(InstanceSpecSchema, { ...spec, cloudInitUserData: '' }),
    status: {
      state: state && state !== 'gone' ? InstanceState[state] : InstanceState.DELETING,
      networkInterfaces: isUp ? [{ name: 'eth0', ipAddress: { address: addressOf(instance) } }] : [],
      reconciling: !['RUNNING', 'STOPPED', 'ERROR'].includes(state ?? ''),
    },
  };
}

/** The instance as those see it who run machines. */
export function bootable(instance: FakeInstance): Bootable {
  return {
    id: instance.id,
    state(nowMs) {
      const state = stateAt(instance, nowMs);
      return state === 'RUNNING' ? 'running' : state === 'gone' ? 'gone' : 'off';
    },
    nextChangeMs: (nowMs) => nextStepMs(instance.timeline, nowMs),
    scripts: () => scriptsIn(Buffer.from(instance.spec.cloudInitUserData).toString('base64')),
    openMetadata: () => () => new Response('There is no metadata.', { status: 404 }),
    environment: () => ({}),
  };
}
