// The one way by which an object that exists becomes another.
import { type Resource, storageOf } from '../api/resource.ts';
import { compact, isSame, type KubeObject, type Meta, OWNER_KEY } from '../objects/object.ts';
import { noteUpdate } from '../patches/ownership.ts';
import { conflict, invalid, MODIFIED } from '../wire/status.ts';
import type { World } from '../world.ts';
import { admit } from './admission.ts';
import type { WriteAsk } from './ask.ts';

/** The draft must be of the object that is there, and of its last revision where it names one. */
function checkPreconditions({ resource }: WriteAsk, old: KubeObject, { metadata }: KubeObject): void {
  const { name, uid, resourceVersion } = old.metadata;
  if (metadata.uid && metadata.uid !== uid) {
    throw conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${uid}`,
    );
  }
  if (metadata.resourceVersion && metadata.resourceVersion !== resourceVersion)
    throw conflict(resource, name, MODIFIED);
}

function checkFinalizers({ resource }: WriteAsk, old: Meta, draft: Meta): void {
  if (old.deletionTimestamp === undefined) return;
  const added = (draft.finalizers ?? []).filter((one) => !(old.finalizers ?? []).includes(one));
  if (added.length === 0) return;
  const shown = `[]string{${added.map((one) => JSON.stringify(one)).join(', ')}}`;
  throw invalid(resource, old.name, [
    {
      reason: 'FieldValueForbidden',
      field: 'metadata.finalizers',
      message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`,
    },
  ]);
}

const BODY = (object: KubeObject): object => {
  const { metadata: _metadata, status: _status, apiVersion: _version, ...rest } = object;
  return rest;
};

function nextGeneration(
  { countsGenerations, hasStatus }: Resource,
  old: KubeObject,
  made: KubeObject,
): number | undefined {
  if (!countsGenerations) return undefined;
  const isChanged = !isSame(BODY(old), BODY(made)) || (!hasStatus && !isSame(old.status, made.status));
  return (old.metadata.generation ?? 1) + (isChanged ? 1 : 0);
}

/** What a write may not change stays as it was. */
function settledMeta(old: Meta, draft: Meta): Meta {
  return compact({
    ...draft,
    name: old.name,
    namespace: old.namespace,
    uid: old.uid,
    resourceVersion: old.resourceVersion,
    generation: old.generation,
    creationTimestamp: old.creationTimestamp,
    deletionTimestamp: old.deletionTimestamp,
    deletionGracePeriodSeconds: old.deletionGracePeriodSeconds,
  }) as Meta;
}

const isStatusOf = ({ resource, subresource }: WriteAsk): boolean => resource.hasStatus && subresource === 'status';

/** The part of the draft that this endpoint writes. */
function scoped(ask: WriteAsk, old: KubeObject, draft: KubeObject): KubeObject {
  const { managedFields } = draft.metadata;
  if (isStatusOf(ask)) {
    const metadata = compact({ ...old.metadata, managedFields }) as Meta;
    return compact({ ...old, metadata, status: draft.status }) as KubeObject;
  }
  const metadata = settledMeta(old.metadata, draft.metadata);
  return ask.resource.hasStatus
    ? (compact({ ...draft, metadata, status: old.status }) as KubeObject)
    : { ...draft, metadata };
}

const ownersOf = ({ metadata }: KubeObject): object =>
  Object.fromEntries(
    (metadata.managedFields ?? []).map((entry) => [
      `${entry[OWNER_KEY]} ${entry.operation} ${entry.subresource}`,
      entry.fieldsV1,
    ]),
  );

/** Whether a write changes nothing but times and revision. */
function isUnchanged(old: KubeObject, made: KubeObject): boolean {
  const strip = (object: KubeObject): object => ({
    ...object,
    metadata: { ...object.metadata, managedFields: undefined, resourceVersion: undefined },
  });
  return isSame(strip(old), strip(made)) && isSame(ownersOf(old), ownersOf(made));
}

/** An object that only waited for its finalizers goes with the last of them. */
export function store(world: World, resource: Resource, made: KubeObject): KubeObject {
  const { deletionTimestamp, finalizers = [], deletionGracePeriodSeconds = 0 } = made.metadata;
  const isOver = deletionTimestamp !== undefined && finalizers.length === 0 && deletionGracePeriodSeconds === 0;
  return isOver ? world.store.remove(storageOf(resource), made) : world.store.replace(storageOf(resource), made);
}

export function replaceObject(ask: WriteAsk, old: KubeObject, written: KubeObject): KubeObject {
  const { world, resource, writer } = ask;
  const draft = resource.conversion?.toStored(written) ?? written;
  checkPreconditions(ask, old, draft);
  checkFinalizers(ask, old.metadata, draft.metadata);
  const admitted = admit(ask, scoped(ask, old, draft), old);
  const counted = {
    ...admitted,
    metadata: compact({ ...admitted.metadata, generation: nextGeneration(resource, old, admitted) }),
  };
  const made = writer.operation === 'Apply' ? counted : noteUpdate(old, counted, resource, writer);
  if (isUnchanged(old, made)) return old;
  return ask.isDryRun ? made : store(world, resource, made);
}
