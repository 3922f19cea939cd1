import { answerOfRefusal, type Evicted, type EvictOptions, evictionOf } from './eviction.ts';
import { type ExchangeDeps, type KubeRequest, openExchange } from './exchange.ts';
import { isObjectMissing } from './faults.ts';
import { type KubePage, type KubeQuery, pagesOf } from './listing.ts';
import type { KubeObject, ObjectName } from './object.ts';
import { apiVersionOf, collectionPath, type KubeResource, objectPath, PODS } from './resource.ts';
import { type WatchEvent, type WatchQuery, watchOf } from './watching.ts';

export type KubeDeps = ExchangeDeps;

/** A change of an object. */
export type KubePatch =
  /** What is null goes, lists are replaced. */
  | { readonly merge: Readonly<Record<string, unknown>> }
  /** Operations of RFC 6902; a `test` that fails is refused as invalid. */
  | { readonly json: readonly JsonOperation[] }
  /** Server-side apply: makes the object where it is absent; `isForced` takes fields over from others. */
  | ServerSideApply;

export interface ServerSideApply {
  readonly apply: KubeObject;
  readonly fieldOwner: string;
  readonly isForced?: boolean;
  /** Answers what the object would be; writes nothing. */
  readonly isDryRun?: boolean;
}

export interface JsonOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'test';
  readonly path: string;
  readonly value?: unknown;
}

export interface PatchTarget extends ObjectName {
  /** `status`, where the resource has that. */
  readonly subresource?: string | undefined;
}

export interface DeleteOptions extends ObjectName {
  /** Refused as stale where the object of that name is another. */
  readonly uid?: string | undefined;
  /** Refused as stale where the object has changed since. */
  readonly resourceVersion?: string | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground' | undefined;
}

/** A cluster's objects, as raw JSON. Every failure is a fault; see `faults.ts` for telling them apart. */
export interface Kube {
  readonly id: string;
  /** Nothing where the object is absent; a fault where its resource is. */
  get(resource: KubeResource, at: ObjectName, signal: AbortSignal): Promise<KubeObject | undefined>;
  /** Every page, or throws. */
  list(resource: KubeResource, query: KubeQuery, signal: AbortSignal): Promise<readonly KubeObject[]>;
  pages(resource: KubeResource, query: KubeQuery, signal: AbortSignal): AsyncIterable<KubePage>;
  watch(resource: KubeResource, query: WatchQuery, signal: AbortSignal): AsyncIterable<WatchEvent>;
  create(resource: KubeResource, object: KubeObject, signal: AbortSignal): Promise<KubeObject>;
  patch(resource: KubeResource, at: PatchTarget, patch: KubePatch, signal: AbortSignal): Promise<KubeObject>;
  /** An object that is absent is a success. It may stay for a while yet: finalizers, grace period. */
  delete(resource: KubeResource, options: DeleteOptions, signal: AbortSignal): Promise<void>;
  /** Deletes a pod where the PodDisruptionBudgets allow that. */
  evict(at: ObjectName, options: EvictOptions, signal: AbortSignal): Promise<Evicted>;
}

// What others call the field owner.
const FIELD_OWNER = 'fieldManager';

const typed = (resource: KubeResource, object: KubeObject): KubeObject => ({
  ...object,
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
});

function patchRequest(resource: KubeResource, patch: KubePatch): Pick<KubeRequest, 'body' | 'contentType' | 'query'> {
  if ('merge' in patch) return { body: patch.merge, contentType: 'application/merge-patch+json' };
  if ('json' in patch) return { body: patch.json, contentType: 'application/json-patch+json' };
  const { fieldOwner, isForced = false, isDryRun = false } = patch;
  return {
    body: typed(resource, patch.apply),
    // JSON is YAML; API servers before 1.32 know no other name for it.
    contentType: 'application/apply-patch+yaml',
    query: { [FIELD_OWNER]: fieldOwner, force: isForced, ...(isDryRun && { dryRun: 'All' }) },
  };
}

function deleteBody({ uid, resourceVersion, gracePeriodSeconds, propagationPolicy }: DeleteOptions) {
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(Object.keys(preconditions).length > 0 && { preconditions }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(propagationPolicy && { propagationPolicy }),
  };
}

/** Nothing where the object is absent; where its namespace or its resource is, that is a fault. */
function orAbsent(thrown: unknown): undefined {
  if (!isObjectMissing(thrown)) throw thrown;
}

export function openKube(deps: KubeDeps): Kube {
  const exchange = openExchange(deps);

  const pages: Kube['pages'] = (resource, query, signal) => pagesOf(exchange, resource, query, signal);

  return {
    id: deps.access.id,
    pages,
    get(resource, { namespace, name }, signal) {
      const path = objectPath(resource, { namespace, name });
      return exchange
        .ask<KubeObject>({ verb: 'get', method: 'GET', resource, namespace, name, path }, signal)
        .catch(orAbsent);
    },
    async list(resource, query, signal) {
      let items: KubeObject[] = [];
      for await (const page of pages(resource, query, signal)) {
        if (page.isFirst) items = [];
        for (const item of page.items) items.push(item);
      }
      return items;
    },
    watch: (resource, query, signal) => watchOf(exchange, deps.clock, { ...query, resource }, signal),
    create(resource, object, signal) {
      const { name, namespace } = object.metadata;
      const path = collectionPath(resource, namespace);
      const body = typed(resource, object);
      return exchange.ask({ verb: 'create', method: 'POST', resource, namespace, name, path, body }, signal);
    },
    patch(resource, { namespace, name, subresource }, patch, signal) {
      const path = objectPath(resource, { namespace, name }, subresource);
      const intent = { verb: 'patch', resource, namespace, name, subresource } as const;
      return exchange.ask({ ...intent, method: 'PATCH', path, ...patchRequest(resource, patch) }, signal);
    },
    async delete(resource, options, signal) {
      const { namespace, name } = options;
      const path = objectPath(resource, { namespace, name });
      const intent = { verb: 'delete', resource, namespace, name } as const;
      await exchange.ask({ ...intent, method: 'DELETE', path, body: deleteBody(options) }, signal).catch(orAbsent);
    },
    async evict(at, options, signal) {
      const subresource = 'eviction';
      const path = objectPath(PODS, at, subresource);
      const intent = { ...at, verb: 'create', resource: PODS, subresource } as const;
      const asked = { ...intent, method: 'POST', path, body: evictionOf(at, options) } as const;
      return await exchange.ask(asked, signal).then(() => 'evicted' as const, answerOfRefusal);
    },
  };
}
