// Whether the workload of a runtime has come to what was applied.
import type { Kube } from '#kube/client.ts';
import type { KubeObject } from '#kube/object.ts';
import { PODS } from '#kube/resource.ts';
import { selectorOf } from '#kube/selector.ts';

interface WorkloadStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly availableReplicas?: number;
}

/** What it waits for; undefined: the rollout is complete. */
export function rolloutWaitsFor(workload: KubeObject): string | undefined {
  const { kind, metadata } = workload;
  const spec = (workload.spec ?? {}) as { readonly replicas?: number };
  const status = (workload.status ?? {}) as WorkloadStatus;
  const what = `${kind} ${metadata.name}`;
  const wanted = spec.replicas ?? 1;
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0))
    return `${what} was changed and is not updated yet.`;
  if ((status.updatedReplicas ?? 0) < wanted)
    return `${status.updatedReplicas ?? 0} of ${wanted} replicas of ${what} are updated.`;
  if ((status.availableReplicas ?? 0) < wanted)
    return `${status.availableReplicas ?? 0} of ${wanted} replicas of ${what} are available.`;
  if ((status.replicas ?? 0) > wanted) return `${what} still has ${status.replicas} replicas.`;
  return undefined;
}

interface PodStatus {
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  readonly containerStatuses?: readonly {
    readonly name: string;
    readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } };
    readonly lastState?: { readonly terminated?: { readonly exitCode?: number; readonly reason?: string } };
  }[];
}

/** Why its pods do not come up, in the words of the cluster; undefined where they do not say. */
export async function podTrouble(
  kube: Pick<Kube, 'list'>,
  workload: KubeObject,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { selector } = (workload.spec ?? {}) as {
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  };
  const labelSelector = selectorOf(selector?.matchLabels ?? {});
  if (labelSelector === '') return undefined;
  const pods = await kube.list(PODS, { namespace: workload.metadata.namespace, labelSelector }, signal);
  for (const pod of pods) {
    const said = troubleOfPod(pod);
    if (said !== undefined) return `Pod ${pod.metadata.name}: ${said}`;
  }
  return undefined;
}

const STARTING = new Set(['ContainerCreating', 'PodInitializing']);

function troubleOfPod(pod: KubeObject): string | undefined {
  const { conditions = [], containerStatuses = [] } = (pod.status ?? {}) as PodStatus;
  const unscheduled = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  if (unscheduled) return `it cannot be scheduled: ${unscheduled.message ?? 'no node has room'}`;
  for (const { name, state, lastState } of containerStatuses) {
    const { reason, message } = state?.waiting ?? {};
    if (reason === undefined || STARTING.has(reason)) continue;
    const ended = lastState?.terminated;
    const before = ended
      ? ` It ended with exit code ${ended.exitCode}${ended.reason ? ` (${ended.reason})` : ''}.`
      : '';
    return `container ${name} waits: ${reason}${message ? `: ${message}` : ''}.${before}`;
  }
  return undefined;
}
