// Why a pool did what it did at a moment of the past: the decision that was in force then, computed from its inputs.
import { Fault } from '#core/fault.ts';
import { idsFrom } from '#core/id.ts';
import type { DecisionRow } from '#core/journal.ts';
import type { Pool, PoolPhase } from '#core/pool.ts';
import { poolSubject } from '#core/reason.ts';
import type { Store } from '#core/store.ts';
import { replayDecision } from '../foresight/replay.ts';
import type { ApiDeps } from './deps.ts';
import { shownComputed, shownDecision } from './shown/decision.ts';
import type * as wire from './wire/pool.ts';
import { toTime, toTimeIf } from './wire/shared.ts';

export async function whyAt({ store, clock }: ApiDeps, pool: Pool, atMs: number): Promise<wire.Why> {
  if (atMs > clock.now()) {
    throw new Fault('invalid', `query.at: ${toTime(atMs)} is in the future.`, {
      at: 'query.at',
      remedy: `Give a time that is over, or see what comes next with \`muster pool plan ${pool.name}\`.`,
    });
  }
  const { recorded, until } = await inForce(store, pool, atMs);
  const replayed = replayDecision(recorded);
  const shown = shownDecision(recorded);
  // What this version computes otherwise is named, and what was really decided is shown.
  const decision = replayed.is === 'same' ? { ...shown, ...shownComputed(replayed.computed) } : shown;
  return {
    pool: pool.name,
    phase: phaseThen(recorded),
    counts: countsOf(recorded),
    starting: [],
    past: {
      at: toTime(atMs),
      until: toTimeIf(until?.at),
      replay: replayed.is,
      differs_in: replayed.is === 'different' ? [...replayed.parts] : undefined,
    },
    decisions: [decision],
  };
}

async function inForce({ history }: Store, pool: Pool, atMs: number) {
  const subject = poolSubject(pool.id);
  const before = { after: idsFrom(atMs + 1), limit: 1, order: 'newest first' } as const;
  const [recorded] = await history.decisions({ subject }, before);
  const after = { after: recorded?.id, limit: 1, order: 'oldest first' } as const;
  const [until] = await history.decisions({ subject }, after);
  if (recorded) return { recorded, until };
  const remedy = until
    ? `Its oldest recorded decision was made at ${toTime(until.at)}; ask for that time or a later one.`
    : `See what it would do now with \`muster pool plan ${pool.name}\`.`;
  throw new Fault('missing', `There is no recorded decision of pool ${pool.name} from ${toTime(atMs)} or before.`, {
    at: 'query.at',
    remedy,
  });
}

const PHASES: Readonly<Record<string, PoolPhase>> = { paused: 'paused', 'pool-removed': 'removing', manual: 'manual' };

const phaseThen = ({ reason }: DecisionRow): PoolPhase => PHASES[reason?.code ?? ''] ?? 'active';

function countsOf({ facts }: DecisionRow): wire.Why['counts'] {
  const figure = (name: string): number => (typeof facts[name] === 'number' ? facts[name] : 0);
  return { queued: figure('queued'), idle: figure('idle'), starting: figure('launching') + figure('booting') };
}
