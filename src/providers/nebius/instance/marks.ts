// How instances are recognised: by the labels that they got when they were made, in the same call.
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type Machine, type Mark, type Trouble, USES, type Use } from '#core/provider.ts';
import { type Instance, InstanceState } from '../gen/nebius_pb.ts';

const CLUSTER = 'muster-cluster';
/** Named after what the machine is for: the label holds the id of its owner. */
const OWNER: Readonly<Record<Use, string>> = { worker: 'muster-pool', computer: 'muster-computer' };
const SHAPE = 'muster-shape';

export function labelsFor({ cluster, use, owner, shape }: Mark): Record<string, string> {
  return { [CLUSTER]: cluster, [OWNER[use]]: owner, [SHAPE]: shape };
}

/** The mark that an instance bears, if it bears a whole one. */
export function markOf({ metadata }: Pick<Instance, 'metadata'>): Mark | undefined {
  const labels = metadata?.labels ?? {};
  const [cluster, shape] = [labels[CLUSTER], labels[SHAPE]];
  const use = USES.find((each) => labels[OWNER[each]]);
  const owner = use && labels[OWNER[use]];
  return cluster && use && owner && shape ? { cluster, use, owner, shape } : undefined;
}

const STATES: Readonly<Record<InstanceState, Machine['state']>> = {
  [InstanceState.INSTANCE_STATE_UNSPECIFIED]: 'creating',
  [InstanceState.CREATING]: 'creating',
  [InstanceState.UPDATING]: 'running',
  [InstanceState.STARTING]: 'creating',
  [InstanceState.RUNNING]: 'running',
  [InstanceState.STOPPING]: 'suspending',
  [InstanceState.STOPPED]: 'suspended',
  [InstanceState.DELETING]: 'deleting',
  [InstanceState.ERROR]: 'failed',
};

export const stateOf = ({ status }: Pick<Instance, 'status'>): InstanceState =>
  status?.state ?? InstanceState.INSTANCE_STATE_UNSPECIFIED;

const withoutMask = (address: string | undefined): string[] => (address ? [address.replace(/\/\d+$/, '')] : []);

/** An instance as the rest of the program sees it; nothing where it bears no whole mark. */
export function machineOf(instance: Instance, trouble: Trouble | undefined): Machine | undefined {
  const mark = markOf(instance);
  const { metadata } = instance;
  if (!mark || !metadata) return undefined;
  const interfaces = instance.status?.networkInterfaces ?? [];
  const addresses = interfaces.flatMap(({ ipAddress, publicIpAddress }) => [
    ...withoutMask(ipAddress?.address),
    ...withoutMask(publicIpAddress?.address),
  ]);
  return {
    name: metadata.name,
    mark,
    id: metadata.id,
    createdAt: metadata.createdAt ? timestampMs(metadata.createdAt) : 0,
    state: STATES[stateOf(instance)] ?? 'creating',
    ...(trouble && { trouble }),
    ...(addresses.length > 0 && { addresses }),
  };
}
