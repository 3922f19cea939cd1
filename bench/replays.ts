import type { DecisionRow } from '#core/journal.ts';
import { someScaling } from '#core/testing/pool.ts';
import { replayDecision } from '#foresight/replay.ts';
import { writeFacts } from '../src/autoscaler/inputs.ts';
import { type Facts, plan, type WorkerFact } from '../src/autoscaler/plan.ts';
import type { Bench, Report } from './bench.ts';
import { median } from './parts/numbers.ts';
import { threadCpuMs } from './parts/stalls.ts';

const ROUNDS = 9;
const SIZES = { small: 3, 'of 200': 200 } as const;

function factsWith(workers: number, queued: number): Facts {
  const phases = ['idle', 'busy', 'booting'] as const;
  const offers = [{ id: '64f913c91149', pricePerHour: 1.5, maxAgents: 400 }];
  const all = Array.from({ length: workers }, (_, at): WorkerFact => {
    const phase = phases[at % 3] ?? 'idle';
    const about = { slots: 1, freeSlots: phase === 'busy' ? 0 : 1, sinceMs: 1_000_000, pricePerHour: 1.5 };
    return { name: `m-gpu-62m035yk-${at}`, phase, offer: '64f913c91149', ...about };
  });
  return {
    ...{ nowMs: 1_100_000, scaling: someScaling({ maxAgents: 400, maxIdleSlots: 300 }), workers: all, queued, offers },
    ...{ isReady: true, isPaused: false, isFrozen: false, isRemoving: false },
  };
}

function recorded(facts: Facts, nth: number): DecisionRow {
  const { did, reason, also, why, unless, alternatives, figures } = plan(facts);
  const row = { id: `d${nth}`, at: nth, subject: 'pool/p', did, reason, also, why, unless, alternatives } as const;
  return JSON.parse(JSON.stringify({ ...row, facts: figures, inputs: writeFacts(facts) })) as DecisionRow;
}

/** How many a second of processor time. */
function rateOf(count: number, step: (nth: number) => void): number {
  const startMs = threadCpuMs();
  for (let nth = 0; nth < count; nth += 1) step(nth);
  return (count * 1_000) / (threadCpuMs() - startMs);
}

function measure(report: Report, variant: keyof typeof SIZES): void {
  const facts = Array.from({ length: 100 }, (_, queued) => factsWith(SIZES[variant], queued % 7));
  const rows = facts.map(recorded);
  const count = (report.isQuick ? 200_000 : 1_000_000) / SIZES[variant];
  const shares = { plans: [] as number[], replays: [] as number[] };
  // Side by side, round by round: what else the machine does meanwhile slows both.
  for (let round = 0; round < ROUNDS; round += 1) {
    shares.plans.push(rateOf(count, (nth) => plan(facts[nth % 100] as Facts)));
    shares.replays.push(
      rateOf(count, (nth) => {
        if (replayDecision(rows[nth % 100] as DecisionRow).is !== 'same') throw new Error('It is not the same.');
      }),
    );
  }
  const [plans, replays] = [median(shares.plans), median(shares.replays)];
  report.figure('plan-rate', plans, { variant });
  report.figure('replay-rate', replays, { variant });
  const note = variant === 'small' ? 'to read the inputs takes longer than to plan three workers' : undefined;
  report.figure('replay-share', replays / plans, { variant, note });
}

export const bench: Bench = {
  order: 12,
  name: 'replays',
  measures: ['plan-rate', 'replay-rate', 'replay-share'],
  limitMs: 120_000,
  async run(report) {
    for (const variant of Object.keys(SIZES) as (keyof typeof SIZES)[]) measure(report, variant);
  },
};
