import type { Clock } from '#core/clock.ts';
import { MINUTE_MS } from '#core/clock.ts';
import type { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { tame } from '#wire/foreign-text.ts';

// Names are the callers' choice: the table of them must not grow without end.
const MOST_REMEMBERED = 1_000;
const LONGEST_NAME = 253;

/** An agent that may not join, as far as it has said who it is. */
export interface RefusedAgent {
  readonly name?: string | undefined;
  readonly pool?: string | undefined;
  readonly from: string;
}

/** Logs refusals: an agent calls again for ever, so each reason is logged once a minute, with how often it was refused. */
export type RefusalLog = (agent: RefusedAgent, fault: Fault) => void;

export function openRefusalLog({ clock, log }: { readonly clock: Clock; readonly log: Log }): RefusalLog {
  const last = new Map<string, { readonly atMs: number; skipped: number }>();

  function remember(key: string, atMs: number): void {
    last.delete(key);
    last.set(key, { atMs, skipped: 0 });
    const [oldest] = last.keys();
    if (last.size > MOST_REMEMBERED && oldest !== undefined) last.delete(oldest);
  }

  return ({ name, pool, from }, fault) => {
    const who = tame(name ?? '', LONGEST_NAME) || undefined;
    const key = `${who ?? from}\n${fault.kind}\n${fault.message}`;
    const before = last.get(key);
    const nowMs = clock.monotonic();
    if (before && nowMs - before.atMs < MINUTE_MS) {
      before.skipped += 1;
      return;
    }
    remember(key, nowMs);
    log(fault.kind === 'internal' ? 'error' : 'warn', 'agent refused', {
      agent: who,
      pool: tame(pool ?? '', LONGEST_NAME) || undefined,
      from,
      kind: fault.kind,
      error: fault.message,
      alsoRefused: before?.skipped || undefined,
    });
  };
}
