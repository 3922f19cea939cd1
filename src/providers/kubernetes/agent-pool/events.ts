// Kubernetes Events about what a pool did, for `kubectl describe`: the sentences of `muster pool why`.
import { type Clock, MINUTE_MS } from '#core/clock.ts';
import type { DocumentReport } from '#core/source.ts';
import type { Kube } from '#kube/client.ts';
import type { KubeObject } from '#kube/object.ts';
import { EVENTS } from '#kube/resource.ts';
import { AGENT_POOLS, FIELD_MANAGER } from './resource.ts';

// The API server keeps every one of them for an hour: a pool that scales all day must not fill it.
const LEAST_BETWEEN_MS = MINUTE_MS;

export interface DecisionEvents {
  /** Writes an event where the pool has acted since the last one, at most once a minute. */
  tell(object: KubeObject, report: DocumentReport, signal: AbortSignal): Promise<void>;
}

interface Told {
  /** Of the decision. */
  readonly at: number;
  readonly toldMs: number;
}

export function openDecisionEvents({
  kube,
  clock,
}: {
  readonly kube: Pick<Kube, 'create'>;
  readonly clock: Clock;
}): DecisionEvents {
  const told = new Map<string, Told>();
  // What was decided before this start has been told, or is old by now.
  const startedAt = clock.now();

  return {
    async tell(object, { decision, pool }, signal) {
      const uid = object.metadata.uid ?? '';
      if (pool === undefined) return void told.delete(uid);
      if (!decision || decision.did === 'nothing' || decision.at < startedAt) return;
      const before = told.get(uid);
      const nowMs = clock.monotonic();
      if (before && (before.at >= decision.at || nowMs - before.toldMs < LEAST_BETWEEN_MS)) return;
      told.set(uid, { at: decision.at, toldMs: nowMs });
      await kube.create(EVENTS, eventOf(object, decision), signal);
    },
  };
}

function eventOf({ metadata }: KubeObject, decision: NonNullable<DocumentReport['decision']>): KubeObject {
  const { name, namespace = 'default', uid, resourceVersion } = metadata;
  const time = new Date(decision.at).toISOString().replace(/\.\d{3}Z$/, 'Z');
  return {
    // Same decision, same name: told again after a lost answer, it is refused as already there.
    metadata: { name: `${name}.${decision.at.toString(16)}`, namespace },
    involvedObject: {
      apiVersion: `${AGENT_POOLS.group}/${AGENT_POOLS.version}`,
      kind: AGENT_POOLS.kind,
      name,
      namespace,
      uid,
      resourceVersion,
    },
    type: 'Normal',
    reason: reasonOf(decision.reasons[0] ?? 'decided'),
    message: `${decision.did}: ${decision.why}`,
    source: { component: FIELD_MANAGER },
    reportingComponent: 'muster.io/pools',
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}

/** `above-max-idle` → `AboveMaxIdle`, as reasons of events are written. */
const reasonOf = (code: string): string => code.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
