// Kubernetes Events for `kubectl describe`: what a pool did, in the sentences of `muster pool why`, and what went wrong.
import { type Clock, MINUTE_MS } from '#core/clock.ts';
import type { DocumentReport } from '#core/source.ts';
import type { Kube } from '#kube/client.ts';
import { type KubeEvent, openEventWriter } from '#kube/events.ts';
import type { KubeObject } from '#kube/object.ts';
import type { Verdict } from './conditions.ts';
import { AGENT_POOLS } from './resource.ts';
import { type AgentPoolStatus, conditionsIn } from './status.ts';

// The API server keeps every one of them for an hour: a pool that scales all day must not fill it.
const LEAST_BETWEEN_MS = MINUTE_MS;

export interface PoolEvents {
  /** Writes an event where the pool has acted since the last one, at most once a minute. */
  note(object: KubeObject, report: DocumentReport, signal: AbortSignal): Promise<void>;
  /** Warns of each condition that has become bad, of each at most once a minute. */
  warn(object: KubeObject, status: AgentPoolStatus, signal: AbortSignal): Promise<void>;
  /** Tells its writer that the freeze of the fleet is not theirs to end. */
  refuseThaw(object: KubeObject, signal: AbortSignal): Promise<void>;
}

interface Written {
  /** When the pool decided it. */
  readonly decidedAt: number;
  readonly writtenMs: number;
}

export function openPoolEvents({ kube, clock }: { readonly kube: Kube; readonly clock: Clock }): PoolEvents {
  const writer = openEventWriter(kube, clock);
  /** By the uid of the object. */
  const written = new Map<string, Written>();
  /** By the uid of the object and the type of the condition: when the last warning was written. */
  const warned = new Map<string, number>();
  /** By the uid of the object: warnings that could not be written yet. The status no longer tells of the change. */
  const unwritten = new Map<string, Verdict[]>();
  // What was decided before this start has been written, or is old by now.
  const startedAt = clock.now();

  return {
    async note(object, { lastAction: action, pool }, signal) {
      const uid = object.metadata.uid ?? '';
      if (pool === undefined) return void written.delete(uid);
      if (!action || action.at < startedAt) return;
      const before = written.get(uid);
      const nowMs = clock.monotonic();
      if (before && (before.decidedAt >= action.at || nowMs - before.writtenMs < LEAST_BETWEEN_MS)) return;
      written.set(uid, { decidedAt: action.at, writtenMs: nowMs });
      const reason = eventReason(action.reasons[0] ?? 'decided');
      await writer.write(
        AGENT_POOLS,
        object,
        { type: 'Normal', reason, message: `${action.did}: ${action.why}` },
        signal,
      );
    },
    async warn(object, { conditions }, signal) {
      const { uid = '' } = object.metadata;
      const nowMs = clock.monotonic();
      const isDue = ({ type }: Verdict): boolean =>
        nowMs - (warned.get(`${uid} ${type}`) ?? Number.NEGATIVE_INFINITY) >= LEAST_BETWEEN_MS;
      const becameBad = conditions.filter(
        (condition) => isBad(condition) && !isShown(object, condition) && isDue(condition),
      );
      const due = [...(unwritten.get(uid) ?? []), ...becameBad].slice(-MOST_UNWRITTEN);
      for (const { type } of becameBad) warned.set(`${uid} ${type}`, nowMs);
      for (const [key, atMs] of warned) if (nowMs - atMs > LEAST_BETWEEN_MS) warned.delete(key);
      if (due.length > 0) unwritten.set(uid, due);
      for (let next = due[0]; next; next = due[0]) {
        const { reason, message } = next;
        await writer.write(AGENT_POOLS, object, { type: 'Warning', reason, message }, signal);
        due.shift();
      }
      unwritten.delete(uid);
    },
    refuseThaw: (object, signal) => writer.write(AGENT_POOLS, object, FLEET_FROZEN, signal),
  };
}

const FLEET_FROZEN: KubeEvent = {
  type: 'Warning',
  reason: 'ThawRefused',
  message: 'The fleet is frozen, not this pool alone. To thaw it, an operator must run `muster thaw`.',
};

/** `above-max-idle` → `AboveMaxIdle`, as reasons of events are written. */
const eventReason = (code: string): string =>
  code.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const MOST_UNWRITTEN = 8;

/** Of Ready only what no other condition tells. */
const BAD: Readonly<Record<Verdict['type'], (verdict: Verdict) => boolean>> = {
  Ready: ({ reason }) => reason === 'AgentsLost' || reason === 'LaunchingSuspended',
  Synced: ({ status }) => status === 'False',
  BackendHealthy: ({ status }) => status === 'False',
  Frozen: ({ status }) => status === 'True',
  ScalingLimited: () => false,
  Stalled: () => false,
};

const isBad = (verdict: Verdict): boolean => BAD[verdict.type](verdict);

/** The object shows it already. */
const isShown = ({ status }: KubeObject, { type, reason }: Verdict): boolean =>
  conditionsIn(status).some((shown) => shown.type === type && shown.reason === reason);
