// Before Muster leaves a cluster: its finalizers go, since nothing else would remove them.
import { type Clock, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Kube } from '#kube/client.ts';
import { isObjectMissing, isResourceUnknown } from '#kube/faults.ts';
import { removeFinalizer } from '#kube/finalizers.ts';
import { type KubeObject, keyOfObject } from '#kube/object.ts';
import { DEPLOYMENTS, PODS } from '#kube/resource.ts';
import type { Right } from '#kube/rights.ts';
import { ourFinalizers } from '../agent-pool/owner.ts';
import { AGENT_POOLS } from '../agent-pool/resource.ts';

export interface ReleaseOptions {
  /** Of the AgentPools; none: all. */
  readonly namespaces?: readonly string[] | undefined;
  /** The Deployment of the server, which is stopped first: a running one would set its finalizers again. */
  readonly server?: { readonly namespace: string; readonly name: string } | undefined;
}

export interface ReleaseDeps {
  readonly kube: Kube;
  readonly clock: Clock;
}

/** What the job of the chart needs besides the rights of the server: only while it runs. */
export const RELEASE_RIGHTS: Readonly<Record<'pools' | 'server', readonly Right[]>> = {
  pools: [{ resource: AGENT_POOLS, verbs: ['get', 'list', 'patch'], why: 'removes the finalizer' }],
  server: [
    { resource: DEPLOYMENTS, verbs: ['patch'], why: 'stops the server' },
    { resource: PODS, verbs: ['list'], why: 'waits until the server has stopped' },
  ],
};

const LOOK_EVERY_MS = SECOND_MS;
// A server has 30 s to stop; then the kubelet kills it.
const STOPS_WITHIN_MS = 2 * MINUTE_MS;

async function stopServer(
  { kube, clock }: ReleaseDeps,
  { namespace, name }: NonNullable<ReleaseOptions['server']>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await kube.patch(DEPLOYMENTS, { namespace, name }, { merge: { spec: { replicas: 0 } } }, signal);
  } catch (thrown) {
    if (!isObjectMissing(thrown)) throw thrown;
  }
  const labelSelector = `app=${name}`;
  const untilMs = clock.monotonic() + STOPS_WITHIN_MS;
  while ((await kube.list(PODS, { namespace, labelSelector }, signal)).length > 0) {
    if (clock.monotonic() >= untilMs) {
      throw new Fault('unavailable', `The server in namespace ${namespace} does not stop.`, {
        remedy: `Delete its pods (${labelSelector}), then run this command again.`,
      });
    }
    await clock.sleep(LOOK_EVERY_MS, signal);
    if (signal.aborted) throw new Fault('unavailable', 'Waiting for the server to stop was interrupted.');
  }
}

/** Removes the finalizers of all Muster clusters from every AgentPool; answers which had it. Repeating is safe; pods and objects stay. */
export async function releaseAgentPools(
  deps: ReleaseDeps,
  { namespaces = [], server }: ReleaseOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (server !== undefined) await stopServer(deps, server, signal);
  const { kube } = deps;
  const objects: KubeObject[] = [];
  for (const namespace of namespaces.length > 0 ? namespaces : [undefined]) {
    const found = await kube.list(AGENT_POOLS, { namespace }, signal).catch((thrown: unknown) => {
      // Without the CRD there are no objects.
      if (isResourceUnknown(thrown)) return [];
      throw thrown;
    });
    objects.push(...found);
  }
  const held = objects.filter((object) => ourFinalizers(object).length > 0);
  for (const object of held) {
    for (const name of ourFinalizers(object)) await removeFinalizer(kube, AGENT_POOLS, object, name, signal);
  }
  return held.map(keyOfObject);
}
