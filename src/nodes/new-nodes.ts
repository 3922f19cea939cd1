// New nodes in thought: each of the first group whose nodes such pods may be on, and that can grow now. Pure.
import type { NodeTemplate } from '#core/node-group.ts';
import type { AccountRooms } from './account-rooms.ts';
import { type NodeNeed, roomToGrow } from './growth.ts';
import type { PodClass } from './simulation/pod-class.ts';
import { addTo, admits, lackIn, openPodRoom, type PodRoom, type RoomKind } from './simulation/room.ts';
import type { SeenGroup } from './survey.ts';

const HOSTNAME = 'kubernetes.io/hostname';

/** A node of a template as it will be, with what goes with every node. */
export function templateRoom(
  name: string,
  kind: RoomKind,
  template: NodeTemplate,
  daemons: readonly PodClass[],
): PodRoom {
  const { taints, allocatable } = template;
  const room = openPodRoom({ name, kind, labels: { ...template.labels, [HOSTNAME]: name }, taints, allocatable });
  for (const pod of daemons) addTo(room, pod);
  return room;
}

const hasNeighbourRules = ({ affinity, antiAffinity, spread }: PodClass): boolean =>
  affinity.length + antiAffinity.length + spread.length > 0;

/** Whether all these pods fit on a node of its own, without regard to pods on other nodes. */
function suits(template: NodeTemplate, { pods }: PodRoom): boolean {
  const empty = templateRoom('', 'new', template, []);
  for (const [pod, many] of pods) {
    if (!admits(empty, pod)) return false;
    for (let count = 0; count < many; count++) {
      if (lackIn(empty, pod) !== undefined) return false;
      addTo(empty, pod);
    }
  }
  return true;
}

export interface NewNodesInput {
  readonly groups: readonly SeenGroup[];
  readonly templates: ReadonlyMap<string, NodeTemplate>;
  readonly daemons: readonly PodClass[];
  readonly rooms: AccountRooms;
  /** How many there may be. */
  readonly most: number;
  readonly now: number;
  readonly isUrgent: boolean;
}

/** Where a node in thought is from: its group, and those before it that did not let the pod in. */
interface Origin {
  readonly group: SeenGroup;
  readonly refused: readonly SeenGroup[];
}

export interface NewNodes {
  /** One node of each group, those that can grow now first; the one that is taken ends the look. */
  openRooms(): Iterable<PodRoom>;
  /** Of which groups those nodes must be that were taken. */
  needsOf(opened: readonly PodRoom[]): readonly NodeNeed[];
}

export function openNewNodes(input: NewNodesInput): NewNodes {
  const { groups, templates, daemons, rooms, most, now, isUrgent } = input;
  const growing = new Map(
    groups.map((group) => {
      const room = roomToGrow(group, now, isUrgent);
      return [group, typeof room === 'number' ? room : 0] as const;
    }),
  );
  const taken = new Map<SeenGroup, number>();
  const origins = new Map<PodRoom, Origin>();
  let opened = 0;

  const canGrow = (group: SeenGroup): boolean => {
    const inAccount = [...taken].filter(([other]) => other.account === group.account);
    const asked = inAccount.reduce((sum, [, count]) => sum + count, 0);
    return (taken.get(group) ?? 0) < (growing.get(group) ?? 0) && asked < (rooms.get(group.account) ?? 0);
  };

  /** A node of another group than the one that was looked at must not be asked for in vain, again and again. */
  function groupsFor(room: PodRoom): readonly SeenGroup[] {
    const { group: own, refused = [] } = origins.get(room) ?? {};
    // Rules about pods on other nodes were looked at for that group alone.
    if ([...room.pods.keys()].some(hasNeighbourRules)) return groups.filter((group) => group === own);
    return groups.filter((group) => !refused.includes(group) && suits(templates.get(group.id) ?? NOTHING, room));
  }

  return {
    *openRooms() {
      const refused: SeenGroup[] = [];
      // A node that no group gives now is needed all the same.
      const byUse = [...groups.filter(canGrow), ...groups.filter((group) => !canGrow(group))];
      for (const group of byUse) {
        const template = templates.get(group.id);
        if (!template || opened >= most) continue;
        const room = templateRoom(`new-${opened + 1}`, 'new', template, daemons);
        origins.set(room, { group, refused });
        const before = taken.get(group) ?? 0;
        taken.set(group, before + 1);
        opened += 1;
        yield room;
        // It was of no use.
        taken.set(group, before);
        opened -= 1;
        refused.push(group);
      }
    },
    needsOf(opened) {
      if (groups.length < 2) return opened.length > 0 ? [{ count: opened.length }] : [];
      const counts = new Map<string, { readonly among: ReadonlySet<string>; count: number }>();
      for (const room of opened) {
        const fitting = groupsFor(room).map(({ id }) => id);
        const key = fitting.join(' ');
        const known = counts.get(key) ?? { among: new Set(fitting), count: 0 };
        known.count += 1;
        counts.set(key, known);
      }
      return [...counts.values()];
    },
  };
}

const NOTHING: NodeTemplate = { allocatable: {}, labels: {}, taints: [] };
