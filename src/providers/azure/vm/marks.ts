// How machines and their parts are recognised: by the tags that they got when they were made, in the same call.
import { type Launch, type Machine, type Mark, USES, type Use } from '#core/provider.ts';
import type { Resource, VirtualMachine } from './api.ts';

const CLUSTER = 'muster-cluster';
/** Named after what the machine is for: the tag holds the id of its owner. */
const OWNER: Readonly<Record<Use, string>> = { worker: 'muster-pool', computer: 'muster-computer' };
const SHAPE = 'muster-shape';
/** Parts have names of Azure's choice; the tag names the machine that they are of. */
const NAME = 'muster-name';

/** The port that its agent serves. */
const PORT = 'muster-port';
/** What was made for a machine beside it. */
const NETWORK = 'muster-network';
const [OWN, OWN_AND_OPEN] = ['own', 'own-and-open'];

interface OwnParts {
  readonly hasOwnNetwork: boolean;
  readonly hasOwnSecurityGroup: boolean;
}

/** All tags of one machine and its parts. */
export function tagsFor(
  own: Readonly<Record<string, string>> | undefined,
  { mark, boot }: Pick<Launch, 'mark' | 'boot'>,
  name: string,
  { hasOwnNetwork = false, hasOwnSecurityGroup = false }: Partial<OwnParts> = {},
): Record<string, string> {
  const { cluster, use, owner, shape } = mark;
  return {
    ...own,
    ...{ [CLUSTER]: cluster, [OWNER[use]]: owner, [SHAPE]: shape, [NAME]: name },
    ...(boot.port !== undefined && { [PORT]: String(boot.port) }),
    ...(hasOwnNetwork && { [NETWORK]: hasOwnSecurityGroup ? OWN_AND_OPEN : OWN }),
  };
}

type Tagged = Pick<Resource, 'tags'>;

/** Azure does not keep the case of a tag's name. */
const tagOf = ({ tags }: Tagged, name: string): string | undefined =>
  Object.entries(tags ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];

export const hasOwnNetwork = (resource: Tagged): boolean => tagOf(resource, NETWORK) !== undefined;
export const hasOwnSecurityGroup = (resource: Tagged): boolean => tagOf(resource, NETWORK) === OWN_AND_OPEN;

/** The port that the launch of a machine named, if it named one. */
export function portIn(resource: Tagged): number | undefined {
  const port = Number(tagOf(resource, PORT) ?? '');
  return port > 0 ? port : undefined;
}

/** The mark that a resource bears, if it bears a whole one. */
export function markOf({ tags }: Tagged): Mark | undefined {
  const folded = new Map(Object.entries(tags ?? {}).map(([key, value]) => [key.toLowerCase(), value]));
  const [cluster, shape] = [folded.get(CLUSTER), folded.get(SHAPE)];
  const use = USES.find((each) => folded.has(OWNER[each]));
  const owner = use && folded.get(OWNER[use]);
  return cluster && use && owner && shape ? { cluster, use, owner, shape } : undefined;
}

/** Whether that is the mark of a machine of the same owner: its shape may be another by now. */
export const isOwnedAlike = (found: Mark | undefined, wanted: Mark): boolean =>
  (['cluster', 'use', 'owner'] as const).every((key) => found?.[key] === wanted[key]);

/** The machine that a part is of. */
export const machineNameOf = (resource: Tagged): string | undefined => tagOf(resource, NAME);

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
