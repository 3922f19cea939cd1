import type { Resource } from '../api/resource.ts';
import type { Writer } from '../patches/ownership.ts';
import type { KubeCall } from '../wire/read-call.ts';
import { invalid } from '../wire/status.ts';
import type { World } from '../world.ts';

/** One write, its caller admitted. */
export interface WriteAsk {
  readonly world: World;
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string;
  readonly isDryRun: boolean;
  readonly writer: Writer;
  /** Texts for `Warning` headers. */
  readonly warnings: string[];
}

/** Without a `fieldManager` it is the program that calls, up to the slash. */
function ownerOf({ query, headers }: KubeCall): string {
  return query.get('fieldManager') || (headers.get('user-agent') ?? '').split('/')[0] || 'unknown';
}

export const APPLY_TYPE = 'application/apply-patch+yaml';

export const contentType = (headers: Headers): string =>
  (headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';

export function writeAsk(call: KubeCall, resource: Resource, world: World): WriteAsk {
  const { query, headers, body, target } = call;
  const isApply = call.verb === 'patch' && contentType(headers) === APPLY_TYPE;
  if (isApply && !query.get('fieldManager')) {
    throw invalid({ kind: 'PatchOptions', group: 'meta.k8s.io' }, '', [
      { reason: 'FieldValueRequired', field: 'fieldManager', message: 'Required value: is required for apply patch' },
    ]);
  }
  return {
    world,
    resource,
    namespace: target?.namespace,
    name: target?.name,
    subresource: target?.subresource,
    query,
    headers,
    body,
    isDryRun: query.get('dryRun') === 'All',
    writer: {
      owner: ownerOf(call),
      operation: isApply ? 'Apply' : 'Update',
      subresource: target?.subresource,
      nowMs: world.clock.now(),
    },
    warnings: [],
  };
}
