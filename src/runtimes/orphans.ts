// Objects of runtimes that no row knows: a database that was restored, a process that died before this version. They are
// found by their labels, which name our cluster, and released.
import type { CallBy, ChosenKind, OpenKinds } from '#clouds/open-kinds.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { startLoop } from '#core/loop.ts';
import type { Random } from '#core/random.ts';
import type { RuntimeHost } from '#core/runtime-host.ts';
import type { Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import { runtimeSubject } from './reasons.ts';
import { isStatic, type RuntimeSettings } from './section.ts';

export interface OrphansDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Journal;
  readonly hosts: OpenKinds<RuntimeHost>;
  /** Ids whose objects are being removed. */
  readonly collecting: Set<string>;
  settings(): RuntimeSettings;
  host(provisioner: string): ChosenKind | undefined;
}

export function startOrphans(deps: OrphansDeps): { look(): void; stop(): void } {
  const { store, clock, random, log, journal, hosts, collecting, settings } = deps;
  const reported = new Set<string>();

  async function collect(name: string, signal: AbortSignal): Promise<{ readonly afterMs: number } | undefined> {
    const chosen = deps.host(name);
    if (!chosen) return undefined;
    const by = { owner: `provisioner ${name}`, signal };
    // One that goes while we list is no orphan.
    const known = new Set(Iterator.from(store.view.runtimes.all()).map(({ id }) => id));
    const found = await hosts.call(chosen, { ...by, name: 'list', is: 'read' }, (it, ending) => it.list(ending));
    for (const id of found) {
      if (known.has(id) || store.view.runtimes.get(id)) continue;
      await report(name, id);
      // After a restored backup the row may be missing though the runtime is in use: it is reported, never released.
      if (store.restoredAt !== undefined) continue;
      await release(chosen, id, by);
    }
    return { afterMs: settings().checkInterval };
  }

  /** A request for a runtime of that id may come at any time: its objects are made when these are removed. */
  async function release(chosen: ChosenKind, id: string, by: Pick<CallBy, 'owner' | 'signal'>): Promise<void> {
    if (store.view.runtimes.get(id)) return;
    collecting.add(id);
    try {
      await hosts.call(chosen, { ...by, name: 'release', is: 'write' }, (it, ending) => it.release(id, ending));
    } finally {
      collecting.delete(id);
    }
  }

  async function report(name: string, id: string): Promise<void> {
    if (reported.has(id)) return;
    reported.add(id);
    const kept = store.restoredAt !== undefined;
    const message = kept
      ? `Provisioner ${name} has objects of a runtime ${id} that this database does not know. They are kept: the database was restored from a backup.`
      : `Provisioner ${name} has objects of a runtime ${id} that this server does not know. They are being removed.`;
    await store.commit([journal.event({ kind: 'runtime.orphan', subject: runtimeSubject(id), message })]);
  }

  const loop = startLoop({
    name: 'runtime-orphans',
    clock,
    random,
    log,
    reconcile: collect,
    failed: (name, fault) =>
      log('warn', 'cannot list runtimes', { provisioner: name, error: Fault.from(fault).message }),
  });
  return {
    look() {
      for (const [name, one] of Object.entries(settings().provisioners)) if (!isStatic(one)) loop.poke(name);
    },
    stop: () => void loop.stop(),
  };
}
