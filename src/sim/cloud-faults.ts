import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { SimCall, SimEffect } from './backend.ts';
import type { Chance } from './chance.ts';
import type { FaultDraws } from './faults.ts';

export interface CloudFaultOptions {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly draws: FaultDraws;
  /** The server dies in the middle of a call. */
  crash(): void;
}

/** What goes wrong with the calls to one cloud. */
export function cloudFaults(options: CloudFaultOptions): (call: SimCall) => SimEffect | undefined {
  const { clock, chance, draws, crash } = options;
  const outOfStockUntilMs = new Map<string, number>();
  // Two good listings in a row decide: one alone may lie.
  let hasLied = false;

  const refused = (...[kind, message, more]: ConstructorParameters<typeof Fault>): SimEffect => ({
    is: 'refused',
    fault: new Fault(kind, message, more),
  });

  function ofAny(call: SimCall): SimEffect | undefined {
    if (draws.strikes('crash-at-call', chance)) {
      crash();
      return { is: 'hang', isDone: chance.happens(0.5) };
    }
    if (draws.strikes('throttling', chance)) {
      return refused('throttled', 'Rate exceeded.', chance.happens(0.5) ? { retryAfterMs: 5_000 } : {});
    }
    if (draws.strikes('hanging-call', chance)) return { is: 'hang', isDone: chance.happens(0.5) };
    if (draws.strikes('slow-call', chance)) return { is: 'slow', ms: chance.ms(0, 30_000) };
    return call.name === 'list' ? undefined : ofWrites(call);
  }

  function ofWrites({ name }: SimCall): SimEffect | undefined {
    if (draws.strikes('lost-reply', chance)) return { is: 'lost reply' };
    if (name !== 'create' || !draws.strikes('partial-reply', chance)) return undefined;
    return { is: 'partial', of: () => chance.pick(['silent', 'skipped', undefined] as const) };
  }

  function ofCreate({ launch }: SimCall): SimEffect | undefined {
    const shape = launch?.mark.shape ?? '';
    if (draws.strikes('stock-out', chance)) {
      outOfStockUntilMs.set(shape, clock.monotonic() + chance.ms(1 * 60_000, 20 * 60_000));
    }
    const isOut = draws.rate('stock-out') > 0 && (outOfStockUntilMs.get(shape) ?? 0) > clock.monotonic();
    if (isOut) {
      return refused('exhausted', 'There is not enough capacity in this zone.');
    }
    if (!draws.strikes('quota', chance)) return undefined;
    const fault = new Fault('quota', 'The quota of this account is used up.');
    return { is: 'partial', of: () => (chance.happens(0.5) ? fault : undefined) };
  }

  function ofList(): SimEffect | undefined {
    if (draws.strikes('list-failure', chance)) {
      return chance.happens(0.5) ? { is: 'lost reply' } : refused('unavailable', 'The second page could not be read.');
    }
    const isLie = !hasLied && draws.strikes('empty-list', chance);
    hasLied = isLie;
    return isLie ? { is: 'answer', of: () => [] } : undefined;
  }

  return (call) => {
    const effect = ofAny(call);
    if (effect?.is === 'slow' && call.name === 'list') hasLied = false;
    if (effect) return effect;
    return call.name === 'list' ? ofList() : call.name === 'create' ? ofCreate(call) : undefined;
  };
}
