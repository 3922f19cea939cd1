import { type Resource, storageOf } from '../api/resource.ts';
import { compact, type Fields, fieldsOf, type KubeObject, type Meta, textOf, timestamp } from '../objects/object.ts';
import { getObject, listObjects } from '../objects/reading.ts';
import { conflict, refuse, success } from '../wire/status.ts';
import type { World } from '../world.ts';
import type { WriteAsk } from './ask.ts';
import { store } from './replace.ts';

/** How an object is to be deleted; the query or the body of the request says so. */
export interface DeleteOptions {
  readonly graceSeconds: number | undefined;
  readonly propagation: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly isDryRun?: boolean | undefined;
}

export function deleteOptions({ body, query, isDryRun }: WriteAsk): DeleteOptions {
  const written: Fields = body.trim() === '' ? {} : fieldsOf(JSON.parse(body));
  const preconditions = fieldsOf(written.preconditions);
  const grace = query.get('gracePeriodSeconds') ?? written.gracePeriodSeconds;
  return {
    graceSeconds: grace === undefined || grace === null ? undefined : Number(grace),
    propagation: query.get('propagationPolicy') ?? (textOf(written.propagationPolicy) || undefined),
    uid: textOf(preconditions.uid) || undefined,
    resourceVersion: textOf(preconditions.resourceVersion) || undefined,
    isDryRun: isDryRun || (Array.isArray(written.dryRun) && written.dryRun.includes('All')),
  };
}

export function checkPreconditions(
  resource: Resource,
  { metadata }: KubeObject,
  { uid, resourceVersion }: DeleteOptions,
): void {
  const { name } = metadata;
  if (uid !== undefined && uid !== metadata.uid) {
    throw conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const [asked, is] = [resourceVersion, metadata.resourceVersion];
    throw conflict(
      resource,
      name,
      `Precondition failed: ResourceVersion in precondition: ${asked}, ResourceVersion in object meta: ${is}`,
    );
  }
}

const ENDED = new Set(['Succeeded', 'Failed']);

/** Only a pod that a kubelet has gets time to end. */
function graceOf({ plural, group }: Resource, { spec, status }: KubeObject, asked: number | undefined): number {
  if (group !== '' || plural !== 'pods') return 0;
  if (textOf(spec?.nodeName) === '' || ENDED.has(textOf(status?.phase))) return 0;
  return Math.max(0, asked ?? Number(spec?.terminationGracePeriodSeconds ?? 30));
}

const CASCADE: Readonly<Record<string, string>> = { Foreground: 'foregroundDeletion', Orphan: 'orphan' };

function finalizersOf(metadata: Meta, propagation: string | undefined): readonly string[] {
  const added = CASCADE[propagation ?? ''];
  const kept = metadata.finalizers ?? [];
  return added === undefined || kept.includes(added) ? kept : [...kept, added];
}

/** When it must be over: a second delete may only shorten the time. */
function deadline(nowMs: number, graceSeconds: number, { deletionTimestamp }: Meta): string {
  const wanted = timestamp(nowMs + graceSeconds * 1_000);
  return deletionTimestamp !== undefined && deletionTimestamp < wanted ? deletionTimestamp : wanted;
}

function marked(world: World, old: KubeObject, finalizers: readonly string[], graceSeconds: number): KubeObject {
  const { metadata } = old;
  const isFirst = metadata.deletionTimestamp === undefined;
  const left = Math.min(graceSeconds, metadata.deletionGracePeriodSeconds ?? graceSeconds);
  const meta = compact({
    ...metadata,
    finalizers: finalizers.length > 0 ? finalizers : undefined,
    deletionTimestamp: deadline(world.clock.now(), left, metadata),
    deletionGracePeriodSeconds: left,
    generation: metadata.generation === undefined ? undefined : metadata.generation + (isFirst ? 1 : 0),
  }) as Meta;
  const isNamespace = old.kind === 'Namespace' && old.apiVersion === 'v1';
  return isNamespace
    ? { ...old, metadata: meta, status: { ...old.status, phase: 'Terminating' } }
    : { ...old, metadata: meta };
}

// A namespace goes when all in it has gone.
const isHeld = ({ kind, apiVersion, spec }: KubeObject): boolean =>
  kind === 'Namespace' && apiVersion === 'v1' && Array.isArray(spec?.finalizers) && spec.finalizers.length > 0;

/** Marks an object for deletion, or removes it where nothing waits; answers what is left of it. */
export function removeObject(
  world: World,
  resource: Resource,
  old: KubeObject,
  options: DeleteOptions,
): { object: KubeObject; isGone: boolean } {
  checkPreconditions(resource, old, options);
  const finalizers = finalizersOf(old.metadata, options.propagation);
  const graceSeconds = graceOf(resource, old, options.graceSeconds);
  const isGone = finalizers.length === 0 && graceSeconds === 0 && !isHeld(old);
  if (options.isDryRun) return { object: old, isGone };
  if (isGone) return { object: world.store.remove(storageOf(resource), old), isGone };
  const made = marked(world, old, finalizers, graceSeconds);
  const { deletionTimestamp, deletionGracePeriodSeconds } = old.metadata;
  const isRepeated =
    deletionTimestamp === made.metadata.deletionTimestamp &&
    deletionGracePeriodSeconds === made.metadata.deletionGracePeriodSeconds &&
    finalizers === old.metadata.finalizers;
  if (isRepeated || (isHeld(old) && deletionTimestamp !== undefined)) return { object: old, isGone };
  return {
    object: isHeld(made) ? world.store.replace(storageOf(resource), made) : store(world, resource, made),
    isGone,
  };
}

export function deleteObject(ask: WriteAsk): { text: KubeObject | Fields; isGone: boolean } {
  const { world, resource, namespace, name = '' } = ask;
  const old = getObject(world, resource, namespace, name);
  if (resource.plural === 'namespaces' && ['default', 'kube-system', 'kube-public'].includes(name)) {
    throw refuse('Forbidden', `namespaces "${name}" is forbidden: this namespace may not be deleted`);
  }
  const { object, isGone } = removeObject(world, resource, old, deleteOptions(ask));
  if (!isGone || resource.plural === 'pods') return { text: object, isGone };
  const { group, plural } = resource;
  return { text: success(compact({ name, group: group || undefined, kind: plural, uid: old.metadata.uid })), isGone };
}

/** Deletes all that the query selects; answers them as they were. */
export function deleteCollection(ask: WriteAsk): readonly KubeObject[] {
  const { world, resource, namespace, query } = ask;
  const { objects } = listObjects(world, resource, namespace, query);
  const options = deleteOptions(ask);
  for (const object of objects) removeObject(world, resource, object, options);
  return objects;
}
