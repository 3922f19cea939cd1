import type { Runtime } from '#core/runtime.ts';
import type { Store } from '#core/store.ts';

/** How many slots of each static host are taken, by runtimes of all provisioners. */
export interface Ledger {
  used(host: string): number;
  /** Every host that a runtime is on. */
  hosts(): Iterable<string>;
  stop(): void;
}

/**
 * Follows the table: a commit changes memory at once, so code that reads the ledger and commits in the same turn can never
 * give a slot twice, and what a restart or another holder loads is the same sum.
 */
export function openLedger(store: Pick<Store, 'view' | 'onChange'>): Ledger {
  const used = new Map<string, number>();

  function charge(runtime: Runtime | undefined, sign: 1 | -1): void {
    if (runtime?.host === undefined) return;
    const sum = (used.get(runtime.host) ?? 0) + sign * runtime.slots;
    if (sum === 0) used.delete(runtime.host);
    else used.set(runtime.host, sum);
  }

  for (const runtime of store.view.runtimes.all()) charge(runtime, 1);
  const stop = store.onChange('runtimes', (after, before) => {
    charge(before, -1);
    charge(after, 1);
  });
  return { used: (host) => used.get(host) ?? 0, hosts: () => used.keys(), stop };
}
