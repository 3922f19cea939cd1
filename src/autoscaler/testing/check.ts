// Facts in a few words, and what a plan made of them.

import { expect } from 'vitest';
import type { Scaling } from '#core/pool.ts';
import type { Alternative, Reason } from '#core/reason.ts';
import { someScaling } from '#core/testing/pool.ts';
import { type Facts, type Plan, plan, type WorkerFact } from '../plan.ts';

export const NOW_MS = 10_000_000;

const SCALING = someScaling({ maxIdleSlots: 0 });

/** Workers as `idle`, `idle@300` (since that many seconds), `busy 1/4` (free of all slots), `old idle` (of an older definition), `idle $3 b` (price and offer). */
function workersOf(text: string): WorkerFact[] {
  return text.split(',').flatMap((part, at) => {
    const found = /^ *(old )?(\w+)(?:@(\d+))?(?: (\d+)\/(\d+))?(?: \$(\d+))?(?: (\w))? *$/.exec(part) ?? [];
    const [, old, phase, seconds = '0', free, slots, price, offer] = found;
    if (!phase) return [];
    const all = Number(slots ?? 1);
    const freeSlots = free === undefined ? (phase === 'busy' ? 0 : all) : Number(free);
    const sinceMs = NOW_MS - Number(seconds) * 1_000;
    const pricePerHour = price === undefined ? undefined : Number(price);
    const isOutdated = old !== undefined;
    const name = `w${at}`;
    return [
      { name, phase: phase as WorkerFact['phase'], slots: all, freeSlots, sinceMs, pricePerHour, offer, isOutdated },
    ];
  });
}

export function factsOf(workers: string, scaling: Partial<Scaling> = {}, more: Partial<Facts> = {}): Facts {
  return {
    nowMs: NOW_MS,
    scaling: { ...SCALING, ...scaling },
    workers: workersOf(workers),
    queued: 0,
    offers: [{ id: 'a' }],
    isReady: true,
    isPaused: false,
    isFrozen: false,
    isRemoving: false,
    ...more,
  };
}

/** `+2` for launches (`+2b` from another offer than the first), `-w1` for removals, `~w1` for drains, in order. */
export function shown({ actions }: Plan): string {
  const words = actions.map((action) => {
    if (action.do === 'launch') return `+${action.count}${action.offer === 'a' ? '' : action.offer}`;
    return `${action.do === 'remove' ? '-' : '~'}${action.worker}`;
  });
  return words.join(' ');
}

export const cooling = (afterMs: number) => ({
  coolingUntilMs: NOW_MS + afterMs,
  coolingFault: 'exhausted' as const,
  coolingWhy: 'exhausted: no capacity',
});

export interface Row {
  readonly rule: string;
  readonly workers?: string;
  readonly scaling?: Partial<Scaling>;
  readonly facts?: Partial<Facts>;
  readonly does: string;
  readonly why?: RegExp;
  readonly unless?: RegExp;
  readonly reason?: Reason;
  readonly also?: readonly string[];
  readonly alternatives?: readonly Alternative[];
  readonly againAfterMs?: number;
}

/** One rule of the plan: from these facts follows this. */
export function check(row: Row): void {
  const { workers = '', does, why, unless, reason, also, alternatives, againAfterMs } = row;
  const made = plan(factsOf(workers, row.scaling, row.facts));

  expect(shown(made)).toBe(does);
  if (why) expect(made.why).toMatch(why);
  if (unless) expect(made.unless).toMatch(unless);
  if (reason) expect(made.reason).toEqual(reason);
  if (also) expect(made.also.map(({ code }) => code)).toEqual(also);
  if (alternatives) expect(made.alternatives).toEqual(alternatives);
  if (againAfterMs !== undefined) expect(made.againAfterMs).toBe(againAfterMs);
}
