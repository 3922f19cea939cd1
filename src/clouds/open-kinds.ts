import { canonicalJson, shortHash } from '#config/canonical.ts';
import type { Chosen } from '#config/kinds.ts';
import type { Rate } from '#core/call-budget.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { AnyKind, Context, Kinds } from '#core/provider.ts';
import { type CallLimits, faultOf, type Gate, type GateCall } from './gate.ts';

/** What the gate needs to know of an open kind of any family. */
export interface Instance {
  readonly cloud?: string | undefined;
  /** What shares a rate budget and a credential; absent: its cloud, else its kind. */
  readonly account?: string | undefined;
  close?(): Promise<void>;
}

/** A kind with its configuration; `id` where the caller has one that is equal for equal ones. */
export type ChosenKind = Chosen & { readonly id?: string | undefined };

export interface Opened<I> {
  readonly chosen: ChosenKind;
  readonly kind: AnyKind<I>;
  readonly it: I;
  readonly account: string;
}

export interface OpenKindsDeps<I> {
  /** What its kinds are called in messages: `backend`. */
  readonly noun: string;
  readonly kinds: Kinds<I>;
  readonly context: Context;
  readonly gate: Gate;
  readonly log: Log;
}

/** Owner of the call, and its abort signal. */
export type CallBy = Pick<GateCall, 'name' | 'is' | 'owner' | 'signal' | 'budget' | 'leaving'> & {
  readonly timeoutMs?: number | undefined;
};

/** The opened things of one family, each opened once for equal configurations; no call but through the gate. */
export interface OpenKinds<I> {
  open(chosen: ChosenKind, signal: AbortSignal): Promise<Opened<I>>;
  get(id: string): Opened<I> | undefined;
  /** Opens it where it is not open yet, and calls it. */
  call<T>(chosen: ChosenKind, by: CallBy, run: (it: I, signal: AbortSignal) => Promise<T>): Promise<T>;
  close(id: string): Promise<void>;
  closeAll(): Promise<void>;
}

const OPEN_TIMEOUT_MS = 30_000;
const TIMEOUTS_MS = { read: 60_000, write: 120_000 };

/** The id of a chosen kind: equal for equal kind and configuration. */
export const idOf = ({ id, kind, config }: ChosenKind): string => id ?? shortHash(kind, canonicalJson(config));

export function openKinds<I extends Instance>({ noun, kinds, context, gate, log }: OpenKindsDeps<I>): OpenKinds<I> {
  const opened = new Map<string, Opened<I> & { readonly leave: () => void }>();
  const underWay = new Map<string, Promise<Opened<I>>>();

  async function openNow(id: string, chosen: ChosenKind, signal: AbortSignal): Promise<Opened<I>> {
    const kind = kinds[chosen.kind];
    if (!kind) {
      const remedy = `Use one of: ${Object.keys(kinds).sort().join(', ')}.`;
      throw new Fault('invalid', `There is no ${noun} "${chosen.kind}".`, { remedy });
    }
    const call = { name: 'open', is: 'read', owner: '', timeoutMs: OPEN_TIMEOUT_MS, signal } as const;
    const it = await gate.call({ ...call, account: chosen.kind }, () =>
      // The configuration is already parsed: parsing it again could change it.
      kind.open(chosen.config, context),
    );
    const account = it.account ?? it.cloud ?? chosen.kind;
    const done = { chosen, kind, it, account, leave: gate.enter(account, limitsOf(account, kind.limits)) };
    opened.set(id, done);
    return done;
  }

  /** The published limits times the factor of the account. */
  function limitsOf(account: string, limits: CallLimits | undefined): CallLimits | undefined {
    const factor = context.rates?.[account.split(':')[0] ?? ''] ?? 1;
    return limits && { read: times(limits.read, factor), write: times(limits.write, factor) };
  }

  async function open(chosen: ChosenKind, signal: AbortSignal): Promise<Opened<I>> {
    const id = idOf(chosen);
    const known = opened.get(id) ?? underWay.get(id);
    if (known) return known;
    const opening = openNow(id, chosen, signal)
      .catch((thrown) => {
        throw faultOf(thrown);
      })
      .finally(() => underWay.delete(id));
    underWay.set(id, opening);
    return opening;
  }

  async function close(id: string): Promise<void> {
    const { it, leave, account } = opened.get(id) ?? {};
    opened.delete(id);
    leave?.();
    try {
      await it?.close?.();
    } catch (thrown) {
      log('warn', `cannot close ${noun}`, { account, error: Fault.from(thrown).message });
    }
  }

  return {
    open,
    get: (id) => opened.get(id),
    async call(chosen, by, run) {
      const { it, account } = await open(chosen, by.signal);
      return gate.call({ ...by, account, timeoutMs: by.timeoutMs ?? TIMEOUTS_MS[by.is] }, (signal) => run(it, signal));
    },
    close,
    async closeAll() {
      await Promise.all([...opened.keys()].map(close));
    },
  };
}

function times(rate: number | Rate, factor: number): number | Rate {
  if (typeof rate === 'number') return rate * factor;
  return { perSecond: rate.perSecond * factor, burst: rate.burst * factor };
}
