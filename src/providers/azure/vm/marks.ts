// How machines and their parts are recognised: by the tags that they got when they were made, in the same call.
import { type Machine, type Mark, USES, type Use } from '#core/provider.ts';
import type { Resource, VirtualMachine } from './api.ts';

const CLUSTER = 'muster-cluster';
/** Named after what the machine is for: the tag holds the id of its owner. */
const OWNER: Readonly<Record<Use, string>> = { worker: 'muster-pool', computer: 'muster-computer' };
const SHAPE = 'muster-shape';
/** Parts have names of Azure's choice; the tag names the machine that they are of. */
const NAME = 'muster-name';

/** All tags of one machine and its parts. */
export function tagsFor(
  own: Readonly<Record<string, string>> | undefined,
  { cluster, use, owner, shape }: Mark,
  name: string,
): Record<string, string> {
  return { ...own, [CLUSTER]: cluster, [OWNER[use]]: owner, [SHAPE]: shape, [NAME]: name };
}

/** The mark that a resource bears, if it bears a whole one; Azure does not keep the case of a tag's name. */
export function markOf({ tags }: Pick<Resource, 'tags'>): Mark | undefined {
  const folded = new Map(Object.entries(tags ?? {}).map(([key, value]) => [key.toLowerCase(), value]));
  const [cluster, shape] = [folded.get(CLUSTER), folded.get(SHAPE)];
  const use = USES.find((each) => folded.has(OWNER[each]));
  const owner = use && folded.get(OWNER[use]);
  return cluster && use && owner && shape ? { cluster, use, owner, shape } : undefined;
}

/** The machine that a part is of. */
export const machineNameOf = ({ tags }: Pick<Resource, 'tags'>): string | undefined =>
  Object.entries(tags ?? {}).find(([key]) => key.toLowerCase() === NAME)?.[1];

const STATES: Readonly<Record<string, Machine['state']>> = {
  creating: 'creating',
  updating: 'running',
  succeeded: 'running',
  migrating: 'running',
  deleting: 'deleting',
  failed: 'failed',
  canceled: 'failed',
};

export const stateOf = ({ properties }: VirtualMachine): Machine['state'] =>
  STATES[properties.provisioningState.toLowerCase()] ?? 'creating';

/** A machine as the rest of the program sees it; nothing where it bears no whole mark. */
export function machineOf(vm: VirtualMachine): Machine | undefined {
  const mark = markOf(vm);
  if (!mark) return undefined;
  const { vmId: id, timeCreated } = vm.properties;
  return { name: vm.name, mark, id, createdAt: Date.parse(timeCreated ?? '') || 0, state: stateOf(vm) };
}
