import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Offer } from '#core/pool.ts';
import type { AnyKind, Backend, Context, Kinds } from '#core/provider.ts';
import type { Store } from '#core/store.ts';
import { faultOf } from './caller.ts';
import { withDeadline } from './deadline.ts';

export interface Opened {
  readonly offer: Offer;
  readonly kind: AnyKind<Backend>;
  readonly backend: Backend;
}

export interface OpeningDeps {
  readonly kinds: Kinds<Backend>;
  readonly context: Context;
  readonly store: Pick<Store, 'durable' | 'leaseLeftMs'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Backends by the id of their offer, each opened once. */
export interface Opening {
  open(offer: Offer, signal: AbortSignal): Promise<Opened>;
  get(offer: string): Opened | undefined;
  close(offer: string): Promise<void>;
  closeAll(): Promise<void>;
}

const OPEN_TIMEOUT_MS = 30_000;

export function startOpening({ kinds, context, store, clock, log }: OpeningDeps): Opening {
  const opened = new Map<string, Opened>();
  const underWay = new Map<string, Promise<Opened>>();

  async function openNow(offer: Offer, signal: AbortSignal): Promise<Opened> {
    const kind = kinds[offer.kind];
    if (!kind) {
      const remedy = `Use one of: ${Object.keys(kinds).sort().join(', ')}.`;
      throw new Fault('invalid', `There is no backend "${offer.kind}".`, { remedy });
    }
    await store.durable();
    const limits = { what: `Opening ${offer.kind}`, clock, signal, timeoutMs: OPEN_TIMEOUT_MS };
    const backend = await withDeadline({ ...limits, leaseLeftMs: () => store.leaseLeftMs() }, () =>
      // It was checked when the pool was read, and holds what the schema made of it: parsing again would not be the same.
      kind.open(offer.config, context),
    );
    return { offer, kind, backend };
  }

  async function close(id: string): Promise<void> {
    const { backend } = opened.get(id) ?? {};
    opened.delete(id);
    try {
      await backend?.close?.();
    } catch (thrown) {
      log('warn', 'backend did not close', { cloud: backend?.cloud, error: Fault.from(thrown).message });
    }
  }

  return {
    get: (id) => opened.get(id),
    async open(offer, signal) {
      const known = opened.get(offer.id) ?? underWay.get(offer.id);
      if (known) return known;
      const opening = openNow(offer, signal)
        .then((done) => {
          opened.set(offer.id, done);
          return done;
        })
        .catch((thrown) => {
          throw faultOf(thrown);
        })
        .finally(() => underWay.delete(offer.id));
      underWay.set(offer.id, opening);
      return opening;
    },
    close,
    async closeAll() {
      await Promise.all([...opened.keys()].map(close));
    },
  };
}
