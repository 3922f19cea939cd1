import { describe, expect, it } from 'vitest';
import { noWorkers, type PoolCounts } from '#core/pool-counts.ts';
import type { DocumentReport } from '#core/source.ts';
import { statusOf } from './status.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

function counts(workers: Partial<PoolCounts['workers']>, queued = 0): PoolCounts {
  const all = { total: 0, ...noWorkers(), ...workers };
  return { workers: all, slots: { total: 0, free: 0 }, sessions: { queued, placed: 0 } };
}

const active = (more: Partial<DocumentReport> = {}): DocumentReport => ({
  version: 'u-1.7',
  pool: 'gpu',
  phase: 'active',
  counts: counts({ idle: 2, busy: 1, booting: 1 }, 5),
  wanted: 4,
  isPlanned: true,
  ...more,
});

function conditions(report: DocumentReport, before?: object): Readonly<Record<string, string>> {
  const { conditions: all } = statusOf(report, before, NOW);
  return Object.fromEntries(all.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
}

describe('the status of an AgentPool', () => {
  it('counts agents and sessions, and names the last decision', () => {
    const decision = { did: 'launch 1', reasons: ['demand'], why: '5 queued and 2 idle: launching 1', at: NOW };

    expect(statusOf(active({ decision }), undefined, NOW)).toMatchObject({
      observedGeneration: 7,
      phase: 'active',
      ready: 3,
      idle: 2,
      busy: 1,
      queued: 5,
      desired: 4,
      lastDecision: { did: 'launch 1', why: decision.why, at: '2026-01-02T03:04:05Z' },
    });
  });

  it('shows since when the pool decides to do nothing, across a restart of the server too', () => {
    const decided = (did: string, reason: string, why: string) => ({ did, reasons: [reason], why, at: NOW });
    const earlier = { did: 'nothing', why: 'enough', at: '2026-01-01T00:00:00Z' };
    const shown = (decision: NonNullable<DocumentReport['decision']>) =>
      statusOf(active({ decision }), { lastDecision: earlier }, NOW).lastDecision;

    expect(shown(decided('nothing', 'enough', 'enough'))).toEqual(earlier);
    expect(shown(decided('nothing', 'not-listed', 'not listed yet'))).toEqual(earlier);
    expect(shown(decided('nothing', 'max-agents', 'at its maximum'))?.at).toBe('2026-01-02T03:04:05Z');
    expect(shown(decided('launch 1', 'demand', 'enough'))?.at).toBe('2026-01-02T03:04:05Z');
  });

  it('keeps what it showed before a restart until a pass has looked at the pods, and shows Unknown for a new generation', () => {
    const before = statusOf(active({ wanted: 3 }), undefined, NOW - 60_000);
    const unlooked = active({ wanted: 3, isPlanned: false, counts: counts({ lost: 3 }) });

    expect(statusOf(unlooked, before, NOW)).toEqual(before);
    expect(conditions({ ...unlooked, version: 'u-1.8' }, before).Ready).toBe('Unknown Reconciling');
    expect(conditions(unlooked).Ready).toBe('Unknown Reconciling');
  });

  it('tells why agents are missing that the pool must have', () => {
    const refused = { kind: 'denied', reason: 'LaunchFailed', message: 'pods is forbidden' } as const;
    const suspended = { did: 'nothing', reasons: ['boot-failures'], why: 'Launching is suspended.', at: NOW };
    const frozen = { id: 'p', at: NOW, why: 'an incident', by: 'alice', automatic: false, isFleet: false };
    const lost = counts({ idle: 2, busy: 1, lost: 1 });

    expect(conditions(active({ trouble: refused })).Ready).toBe('False PodsRefused');
    expect(conditions(active({ trouble: { ...refused, kind: 'exhausted' } })).Ready).toBe('False AgentsStarting');
    expect(conditions(active({ decision: suspended })).Ready).toBe('False LaunchingSuspended');
    expect(conditions(active({ counts: lost })).Ready).toBe('False AgentsLost');
    expect(conditions(active({ counts: lost, returning: 1 })).Ready).toBe('True AgentsConnected');
    expect(conditions(active({ wanted: 3, frozen }))).toMatchObject({
      Ready: 'False Frozen',
      Frozen: 'True PoolFrozen',
    });
    expect(conditions(active({ frozen: { ...frozen, isFleet: true } })).Frozen).toBe('True FleetFrozen');
    expect(conditions(active())).not.toHaveProperty('Frozen');
  });

  it('is ready when all agents that the pool wants are connected', () => {
    expect(conditions(active()).Ready).toBe('False AgentsStarting');
    expect(conditions(active({ wanted: 3 })).Ready).toBe('True AgentsConnected');
    expect(conditions(active({ wanted: 0, counts: counts({}) })).Ready).toBe('True AgentsConnected');
    expect(conditions(active({ phase: 'paused' })).Ready).toBe('False Paused');
  });

  it('says what a drain waits for', () => {
    const draining = active({ phase: 'removing', wanted: 0, drain: { sessions: 2, deadlineAt: NOW } });

    const [ready] = statusOf(draining, undefined, NOW).conditions;

    expect(ready).toMatchObject({ status: 'False', reason: 'Draining' });
    expect(ready?.message).toBe('Draining: 2 sessions left; busy pods may finish until 2026-01-02T03:04:05Z.');
  });

  it('keeps the last good definition where a new one is refused, and says so', () => {
    const fault = { kind: 'invalid', message: 'needs one', place: 'spec.template.metadata.labels' } as const;

    expect(conditions(active({ fault })).Synced).toBe('False Invalid');
    const synced = statusOf(active({ fault }), undefined, NOW).conditions.find(({ type }) => type === 'Synced');
    const said = 'spec.template.metadata.labels: needs one.';
    expect(synced?.message).toBe(`${said} The last good definition stays in force.`);
    expect(conditions({ version: 'u.1', phase: 'refused', fault: { ...fault, kind: 'conflict' } })).toMatchObject({
      Ready: 'False Refused',
      Synced: 'False NameTaken',
    });
  });

  it('is stalled while its newest generation is refused: to Flux such an object has failed, though its agents are ready', () => {
    const fault = { kind: 'invalid', message: 'needs one', place: 'spec.template.metadata.labels' } as const;

    expect(conditions(active({ wanted: 3, fault }))).toMatchObject({
      Ready: 'True AgentsConnected',
      Stalled: 'True Invalid',
    });
    expect(conditions(active())).not.toHaveProperty('Stalled');
  });

  it('tells by the reason of the decision that the bounds keep it small', () => {
    const decision = { did: 'nothing', reasons: ['max-agents'], why: 'max_agents 4 is reached', at: NOW };

    expect(conditions(active({ decision })).ScalingLimited).toBe('True AtMaximum');
    expect(conditions(active({ decision: { ...decision, reasons: ['enough'] } })).ScalingLimited).toBe(
      'False WithinBounds',
    );
  });

  it('passes on why pods cannot be had', () => {
    expect(conditions(active()).BackendHealthy).toBe('True Working');
    expect(
      conditions(active({ trouble: { kind: 'exhausted', message: '0/3 nodes are available' } })).BackendHealthy,
    ).toBe('False Failing');
  });

  it('keeps the time since when a condition is as it is', () => {
    const before = statusOf(active(), undefined, NOW - 60_000);
    const same = statusOf(active(), before, NOW);
    const ready = statusOf(active({ wanted: 3 }), before, NOW);

    expect(same).toEqual(before);
    expect(ready.conditions.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([
      '2026-01-02T03:04:05Z',
      '2026-01-02T03:03:05Z',
      '2026-01-02T03:03:05Z',
      '2026-01-02T03:03:05Z',
    ]);
  });
});
