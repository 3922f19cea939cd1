// Which static host a runtime goes to. Pure: the caller holds the figures, and commits the choice in the same turn.
import { Fault } from '#core/fault.ts';

export const PLACEMENTS = ['spread', 'pack', 'random'] as const;
export type Placement = (typeof PLACEMENTS)[number];

export interface HostRoom {
  readonly host: string;
  readonly slots: number;
  readonly used: number;
  readonly isDrained: boolean;
}

export interface PlacementQuestion {
  readonly hosts: readonly HostRoom[];
  readonly slots: number;
  readonly placement: Placement;
  /** In [0, 1); only for `random`. */
  readonly random: number;
}

export const freeOf = ({ slots, used }: HostRoom): number => Math.max(0, slots - used);

/** The host for it, or undefined where none has room. Of equal ones the first in the set. */
export function placeRuntime({ hosts, slots, placement, random }: PlacementQuestion): HostRoom | undefined {
  const fitting = hosts.filter((host) => !host.isDrained && freeOf(host) >= slots);
  if (placement === 'random') return fitting[Math.floor(random * fitting.length)];
  const share = ({ used, slots: all }: HostRoom): number => used / all;
  const isBetter = (one: HostRoom, other: HostRoom): boolean =>
    placement === 'spread' ? share(one) < share(other) : freeOf(one) < freeOf(other);
  let best: HostRoom | undefined;
  for (const host of fitting) if (!best || isBetter(host, best)) best = host;
  return best;
}

/** Why no host takes it: names the largest where none could ever, else the fullest and the freest. */
export function noRoom(provisioner: string, slots: number, hosts: readonly HostRoom[]): Fault {
  const open = hosts.filter(({ isDrained }) => !isDrained);
  const largest = Math.max(0, ...hosts.map((host) => host.slots));
  if (slots > largest) {
    const message = `No host of ${provisioner} has ${slots} slots; the largest has ${largest}.`;
    return new Fault('invalid', message, { at: 'body.slots', remedy: `Ask for at most ${largest} slots.` });
  }
  if (open.length === 0) {
    const remedy = 'Release a host with `muster runtime host release`, or add one to the set.';
    return new Fault('exhausted', `Every host of ${provisioner} is drained.`, { remedy });
  }
  const byFree = open.toSorted((a, b) => freeOf(b) - freeOf(a));
  const [freest, fullest] = [byFree[0] as HostRoom, byFree.at(-1) as HostRoom];
  const figures = (one: HostRoom): string => `${one.host} has ${freeOf(one)} of ${one.slots} slots free`;
  const both =
    freest === fullest ? figures(freest) : `the freest, ${figures(freest)}; the fullest, ${figures(fullest)}`;
  const remedy = 'Release or resize a runtime, or add a host to the set.';
  return new Fault('exhausted', `No host of ${provisioner} has ${slots} free slots: ${both}.`, { remedy });
}
