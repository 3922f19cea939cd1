// Why a pod does not start, where only its events tell: a volume that cannot be mounted, a network that is not there.
import type { Clock } from '#core/clock.ts';
import type { Trouble } from '#core/provider.ts';
import type { Kube } from '#kube/client.ts';
import type { KubeObject } from '#kube/object.ts';
import { EVENTS } from '#kube/resource.ts';
import { openFirstSeen } from '../first-seen.ts';
import { isUnschedulable, type Pod } from './machine.ts';

// The kubelet writes its first FailedMount within seconds; a pod that starts by then needs no question.
const SLOW_AFTER_MS = 30_000;
const ASK_AGAIN_AFTER_MS = 30_000;
// Where a ConfigMap is missing, all pods of a pool wait for it: the events of a few tell.
const MOST_ASKED_AT_ONCE = 10;

/** The reasons of events that name what is missing, with what to do. */
const REMEDIES: Readonly<Record<string, string>> = {
  FailedMount: 'Create what the volume names, or correct the template.',
  FailedAttachVolume: 'Check the volume and the node that holds it.',
  FailedCreatePodSandBox: 'Check the network plug-in of the node.',
  NetworkNotReady: 'Check the network plug-in of the node.',
  FailedValidation: 'Correct the template.',
};

interface Asked {
  readonly atMs: number;
  readonly trouble: Trouble | undefined;
}

export interface SlowStarts {
  /** Asks for the events of pods that have been starting for long. A failure changes nothing. */
  ask(pods: readonly Pod[], signal: AbortSignal): Promise<void>;
  /** What the events of a pod say. */
  of(pod: Pod): Trouble | undefined;
  /** How long we have seen it starting. */
  waitedMs(pod: Pod): number;
}

export interface SlowStartsDeps {
  readonly kube: Pick<Kube, 'list'>;
  readonly clock: Clock;
}

export function openSlowStarts({ kube, clock }: SlowStartsDeps): SlowStarts {
  let asked = new Map<string, Asked>();
  const pending = openFirstSeen(clock);

  const isPending = ({ status, metadata }: Pod): boolean =>
    (status?.phase ?? 'Pending') === 'Pending' && metadata.deletionTimestamp === undefined;

  const waitedMs = ({ metadata }: Pod): number => pending.sinceMs(metadata.uid);

  async function askFor({ metadata }: Pod, signal: AbortSignal): Promise<Trouble | undefined> {
    const { namespace, uid = '' } = metadata;
    const events = await kube.list(EVENTS, { namespace, fieldSelector: `involvedObject.uid=${uid}` }, signal);
    return troubleIn(events);
  }

  return {
    async ask(pods, signal) {
      pending.note(pods.filter(isPending).map(({ metadata }) => metadata.uid ?? ''));
      const nowMs = clock.monotonic();
      const kept = new Map<string, Asked>();
      const due: Pod[] = [];
      for (const pod of pods) {
        if (!isPending(pod) || isUnschedulable(pod) || waitedMs(pod) < SLOW_AFTER_MS) continue;
        const known = asked.get(pod.metadata.uid ?? '');
        if (known) kept.set(pod.metadata.uid ?? '', known);
        if (!known || nowMs - known.atMs >= ASK_AGAIN_AFTER_MS) due.push(pod);
      }
      asked = kept;
      await Promise.all(
        due.slice(0, MOST_ASKED_AT_ONCE).map(async (pod) => {
          // Whoever may not read events still has pods to run.
          const trouble = await askFor(pod, signal).catch(() => undefined);
          asked.set(pod.metadata.uid ?? '', { atMs: nowMs, trouble });
        }),
      );
    },
    waitedMs,
    of: ({ metadata }) => asked.get(metadata.uid ?? '')?.trouble,
  };
}

/** What the newest of the events that name a cause says. */
function troubleIn(events: readonly KubeObject[]): Trouble | undefined {
  const [newest] = events
    .filter(({ type, reason }) => type === 'Warning' && REMEDIES[String(reason)] !== undefined)
    .toSorted((one, other) => timeOf(other) - timeOf(one));
  if (!newest) return undefined;
  const reason = String(newest.reason);
  return { kind: 'invalid', message: `${reason}: ${newest.message}. ${REMEDIES[reason]}`, final: false };
}

function timeOf({ lastTimestamp, eventTime, metadata }: KubeObject): number {
  return Date.parse(String(lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '')) || 0;
}
