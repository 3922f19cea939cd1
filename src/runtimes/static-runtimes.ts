// Runtimes on static hosts: every change is one decision on the ledger and one commit, in the same turn.
import { Fault } from '#core/fault.ts';
import type { HostMove, HostStatus, Runtime } from '#core/runtime.ts';
import type { RuntimeGrant } from '#core/runtime-host.ts';
import { resourcesOf } from '#core/slot-size.ts';
import type { Store } from '#core/store.ts';
import { openLedger } from './ledger.ts';
import { freeOf, type HostRoom, noRoom, placeRuntime } from './placement.ts';
import { isStatic, type RuntimeSettings, type StaticSpec } from './section.ts';

export interface StaticRuntimes {
  /** Where a new runtime goes; throws where no host has room. */
  place(provisioner: string, slots: number, diskGb?: number): { readonly host: string; readonly grant: RuntimeGrant };
  /** Where it is after a change of its size: its host if that has room, else another one. */
  resized(
    runtime: Runtime,
    next: Pick<Runtime, 'slots' | 'diskGb'>,
  ): { readonly host: string; readonly grant: RuntimeGrant };
  /** Where each runtime of a host would go, largest first, counting each move before the next. */
  moves(host: string): readonly (HostMove & { readonly grant?: RuntimeGrant | undefined })[];
  statuses(): readonly HostStatus[];
  stop(): void;
}

export interface StaticRuntimesDeps {
  readonly store: Store;
  settings(): RuntimeSettings;
  /** In [0, 1). */
  random(): number;
}

export function openStaticRuntimes({ store, settings, random }: StaticRuntimesDeps): StaticRuntimes {
  const ledger = openLedger(store);

  function specOf(provisioner: string): StaticSpec {
    const found = settings().provisioners[provisioner];
    if (found && isStatic(found)) return found.spec;
    throw new Fault('conflict', `${provisioner} is not a static provisioner of the set.`, {
      remedy: 'Put it into the set again, or remove the runtime and request it anew.',
    });
  }

  const roomsOf = (spec: StaticSpec): readonly HostRoom[] =>
    spec.runtimes.map(({ host, slots }) => ({
      host,
      slots,
      used: ledger.used(host),
      isDrained: store.view.drainedHosts.get(host) !== undefined,
    }));

  function grantOn(spec: StaticSpec, host: string, slots: number, diskGb?: number): RuntimeGrant {
    const entry = spec.runtimes.find((one) => one.host === host);
    const { dataDir, audienceUrl = host } = entry ?? {};
    return { host, audience: audienceUrl, dataDir, ...resourcesOf(slots, spec.slot, diskGb) };
  }

  function choose(provisioner: string, slots: number, rooms: readonly HostRoom[]): HostRoom {
    const { placement } = specOf(provisioner);
    const found = placeRuntime({ hosts: rooms, slots, placement, random: random() });
    if (found) return found;
    throw noRoom(provisioner, slots, rooms);
  }

  return {
    place(provisioner, slots, diskGb) {
      const spec = specOf(provisioner);
      const { host } = choose(provisioner, slots, roomsOf(spec));
      return { host, grant: grantOn(spec, host, slots, diskGb) };
    },
    resized(runtime, { slots, diskGb }) {
      const spec = specOf(runtime.provisioner);
      // Its own slots are free for itself.
      const rooms = roomsOf(spec).map((room) =>
        room.host === runtime.host ? { ...room, used: room.used - runtime.slots } : room,
      );
      const own = rooms.find(({ host }) => host === runtime.host);
      const isShrinking = slots <= runtime.slots;
      const staysAt = runtime.host !== undefined && (isShrinking || (own && freeOf(own) >= slots));
      const host = staysAt ? (runtime.host as string) : choose(runtime.provisioner, slots, rooms).host;
      return { host, grant: grantOn(spec, host, slots, diskGb) };
    },
    moves(host) {
      const taken = new Map<string, number>();
      const going = [...store.view.runtimes.by('host', host)].toSorted((a, b) => b.slots - a.slots);
      return going.map(({ id, provisioner, slots, diskGb }) => {
        const found = settings().provisioners[provisioner];
        if (!found || !isStatic(found)) return { runtime: id, slots };
        const rooms = roomsOf(found.spec)
          .filter((room) => room.host !== host)
          .map((room) => ({ ...room, used: room.used + (taken.get(room.host) ?? 0) }));
        const to = placeRuntime({ hosts: rooms, slots, placement: found.spec.placement, random: random() })?.host;
        if (to === undefined) return { runtime: id, slots };
        taken.set(to, (taken.get(to) ?? 0) + slots);
        return { runtime: id, slots, to, grant: grantOn(found.spec, to, slots, diskGb) };
      });
    },
    statuses: () =>
      [...hostsOf(settings(), ledger.hosts())].map(([host, { slots, provisioners }]) => ({
        host,
        provisioners,
        slots,
        used: ledger.used(host),
        isDrained: store.view.drainedHosts.get(host) !== undefined,
        runtimes: [...store.view.runtimes.by('host', host)].map(({ id }) => id),
      })),
    stop: ledger.stop,
  };
}

type Named = Pick<HostStatus, 'slots'> & { readonly provisioners: string[] };

/** The hosts of the set, and those that have left it while runtimes live there. */
function hostsOf({ provisioners }: RuntimeSettings, charged: Iterable<string>): ReadonlyMap<string, Named> {
  const hosts = new Map<string, Named>();
  const all = Object.entries(provisioners).flatMap(([by, one]) =>
    isStatic(one) ? one.spec.runtimes.map(({ host, slots }) => ({ by, host, slots })) : [],
  );
  for (const { by, host, slots } of all) {
    const known = hosts.get(host);
    if (known) known.provisioners.push(by);
    else hosts.set(host, { slots, provisioners: [by] });
  }
  for (const host of charged) if (!hosts.has(host)) hosts.set(host, { slots: 0, provisioners: [] });
  return hosts;
}
