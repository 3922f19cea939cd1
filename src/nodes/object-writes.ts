// What is written on NodeProvisioner objects: who serves them, and their status.
import type { Gate } from '#clouds/gate.ts';
import { SECOND_MS } from '#core/clock.ts';
import type { Kube } from '#kube/client.ts';
import type { KubeObject } from '#kube/object.ts';
import { NODE_POOLS, SERVED_BY } from './objects.ts';
import type { NodePoolStatusValue } from './status-object.ts';

export interface ObjectWritesDeps {
  readonly kube: Kube;
  readonly gate: Gate;
  /** What shares the rate budget of the API server. */
  readonly account: string;
  /** The id of this Muster. */
  readonly cluster: string;
}

export interface ObjectWrites {
  /** Whether the object is ours to serve; takes it where no other Muster does. */
  isOurs(object: KubeObject, signal: AbortSignal): Promise<boolean>;
  writeStatus(object: KubeObject, status: NodePoolStatusValue, signal: AbortSignal): Promise<void>;
}

const TIMEOUT_MS = 30 * SECOND_MS;

export function openObjectWrites({ kube, gate, account, cluster }: ObjectWritesDeps): ObjectWrites {
  function patch(
    name: string,
    at: { readonly subresource?: string },
    merge: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ) {
    const call = {
      name: 'patch provisioner',
      is: 'write',
      account,
      owner: name,
      timeoutMs: TIMEOUT_MS,
      signal,
    } as const;
    return gate.call(call, (ending) => kube.patch(NODE_POOLS, { name, ...at }, { merge }, ending));
  }

  return {
    async isOurs({ metadata }, signal) {
      const by = metadata.annotations?.[SERVED_BY];
      if (by !== undefined) return by === cluster;
      const { name, resourceVersion } = metadata;
      // Of two that take it at once the API server refuses one.
      await patch(name, {}, { metadata: { resourceVersion, annotations: { [SERVED_BY]: cluster } } }, signal);
      return true;
    },
    async writeStatus({ metadata, status: before }, status, signal) {
      if (JSON.stringify(status) === JSON.stringify(before)) return;
      await patch(metadata.name, { subresource: 'status' }, { status }, signal);
    },
  };
}
