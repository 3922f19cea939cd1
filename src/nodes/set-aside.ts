// Keeps in mind since when each pod fits that the scheduler refuses all the same; one that does so for too long is set aside.
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { put, type Store } from '#core/store.ts';
import type { ClusterView } from './cluster-view.ts';
import { setAsideNow } from './pending-pods.ts';
import { poolRowOf } from './pool-row.ts';

export interface SetAside {
  /** Takes the pods that fit now, each with its node; answers whether those set aside have changed. */
  observe(name: string, fittingNow: ReadonlyMap<string, string>): Promise<boolean>;
  forget(name: string): void;
}

export interface SetAsideDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly view: ClusterView;
}

export function openSetAside({ store, clock, log, view }: SetAsideDeps): SetAside {
  /** By provisioner and uid of a pod: since when it has fitted on a ready node. */
  const fitting = new Map<string, Map<string, number>>();

  return {
    async observe(name, fittingNow) {
      const fittingSince = fitting.get(name) ?? new Map<string, number>();
      fitting.set(name, fittingSince);
      const waiting = new Map([...view.refused()].map((pod) => [pod.uid, pod]));
      const fits = new Set([...waiting.values()].filter(({ key }) => fittingNow.has(key)).map(({ uid }) => uid));
      for (const uid of fittingSince.keys()) if (!fits.has(uid)) fittingSince.delete(uid);
      for (const uid of fits) if (!fittingSince.has(uid)) fittingSince.set(uid, clock.now());
      const row = poolRowOf(store, name);
      const next = setAsideNow(fittingSince, {
        ...{ known: row.setAside, waiting, now: clock.now() },
        nodeOf: (key) => fittingNow.get(key),
      });
      if (next === row.setAside) return false;
      await store.commit([put('nodePools', { ...row, setAside: next })]);
      for (const { key, message } of next.filter((one) => !row.setAside.includes(one)))
        log('warn', 'pod set aside', { provisioner: name, pod: key, refusal: message });
      return true;
    },
    forget: (name) => void fitting.delete(name),
  };
}
