// Kubernetes Events about what a pool did, for `kubectl describe`: the sentences of `muster pool why`.
import { type Clock, MINUTE_MS } from '#core/clock.ts';
import type { DocumentReport } from '#core/source.ts';
import type { Kube } from '#kube/client.ts';
import { type KubeEvent, openEventWriter } from '#kube/events.ts';
import type { KubeObject } from '#kube/object.ts';
import { AGENT_POOLS } from './resource.ts';

// The API server keeps every one of them for an hour: a pool that scales all day must not fill it.
const LEAST_BETWEEN_MS = MINUTE_MS;

export interface DecisionEvents {
  /** Writes an event where the pool has acted since the last one, at most once a minute. */
  note(object: KubeObject, report: DocumentReport, signal: AbortSignal): Promise<void>;
  /** Tells its writer that the freeze of the fleet is not theirs to end. */
  refuseThaw(object: KubeObject, signal: AbortSignal): Promise<void>;
}

interface Written {
  /** When the pool decided it. */
  readonly decidedAt: number;
  readonly writtenMs: number;
}

export function openDecisionEvents({ kube, clock }: { readonly kube: Kube; readonly clock: Clock }): DecisionEvents {
  const writer = openEventWriter(kube, clock);
  /** By the uid of the object. */
  const written = new Map<string, Written>();
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
