// Before Muster leaves a cluster: its taints go, since nothing else would remove them, and another may serve the objects.
import type { Kube } from '#kube/client.ts';
import { isResourceUnknown } from '#kube/faults.ts';
import type { KubeObject } from '#kube/object.ts';
import { NODES } from '#kube/resource.ts';
import { nodeFactOf } from './cluster-objects.ts';
import { withoutOurs, writeNode } from './node-writes.ts';
import { NODE_POOLS, SERVED_BY } from './objects.ts';

const isServed = ({ metadata }: KubeObject): boolean => metadata.annotations?.[SERVED_BY] !== undefined;

/** Answers the nodes and objects that bore something of a Muster, as `node/NAME`; the server must have stopped. Repeating is safe. */
export async function releaseNodes(kube: Kube, signal: AbortSignal): Promise<readonly string[]> {
  const facts = (await kube.list(NODES, {}, signal)).map(nodeFactOf);
  const held = facts.filter((fact) => withoutOurs(fact) !== undefined);
  for (const fact of held) await writeNode(kube, fact, withoutOurs, signal);
  const objects = await kube.list(NODE_POOLS, {}, signal).catch((thrown: unknown) => {
    // Without the definition there are no objects.
    if (isResourceUnknown(thrown)) return [];
    throw thrown;
  });
  const served = objects.filter(isServed);
  const merge = { metadata: { annotations: { [SERVED_BY]: null } } };
  for (const { metadata } of served) await kube.patch(NODE_POOLS, { name: metadata.name }, { merge }, signal);
  return [
    ...held.map(({ name }) => `node/${name}`),
    ...served.map(({ metadata }) => `nodeprovisioner/${metadata.name}`),
  ];
}
