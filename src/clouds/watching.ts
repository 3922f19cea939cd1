import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Backend } from '#core/provider.ts';

export interface WatchingDeps {
  /** The open offers of a cloud with their backends. */
  backends(cloud: string): Iterable<readonly [offer: string, backend: Backend]>;
  /** The listing of that cloud may have changed. */
  changed(cloud: string): void;
  readonly log: Log;
}

/** One watch a cloud, by whichever of its open offers can watch. */
export interface Watching {
  /** An offer of that cloud was opened or closed. */
  look(cloud: string): void;
  stop(): void;
}

export function openWatching({ backends, changed, log }: WatchingDeps): Watching {
  const watches = new Map<string, { readonly offer: string; readonly ending: AbortController }>();

  function start(cloud: string, offer: string, backend: Backend): void {
    const ending = new AbortController();
    watches.set(cloud, { offer, ending });
    const heard = (): void => {
      if (!ending.signal.aborted) changed(cloud);
    };
    try {
      backend.watch?.(heard, ending.signal);
    } catch (thrown) {
      log('warn', 'watch of a cloud failed, polling instead', { cloud, error: Fault.from(thrown).message });
    }
  }

  return {
    look(cloud) {
      const open = [...backends(cloud)].filter(([, { watch }]) => watch !== undefined);
      const current = watches.get(cloud);
      if (current && open.some(([offer]) => offer === current.offer)) return;
      current?.ending.abort();
      watches.delete(cloud);
      const [first] = open;
      if (first) start(cloud, ...first);
    },
    stop() {
      for (const { ending } of watches.values()) ending.abort();
      watches.clear();
    },
  };
}
