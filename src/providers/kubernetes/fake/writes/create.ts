import { storageOf } from '../api/resource.ts';
import { compact, type Fields, type KubeObject, type Meta, textOf, timestamp } from '../objects/object.ts';
import { nameSuffix, newUid } from '../objects/uid.ts';
import { noteUpdate } from '../patches/ownership.ts';
import { alreadyExists, invalid, refuse } from '../wire/status.ts';
import { admit, checkNamespace } from './admission.ts';
import type { WriteAsk } from './ask.ts';
import { parseBody, readObject } from './body.ts';

function nameFor({ world: { random }, resource }: WriteAsk, { name, generateName }: Fields): string {
  if (textOf(name) !== '') return textOf(name);
  if (textOf(generateName) !== '') return `${textOf(generateName)}${nameSuffix(random)}`;
  throw invalid(resource, '', [
    {
      reason: 'FieldValueRequired',
      field: 'metadata.name',
      message: 'Required value: name or generateName is required',
    },
  ]);
}

/** What the API server alone decides about a new object. */
function freshMeta({ world, resource, namespace }: WriteAsk, written: Fields, name: string): Meta {
  return compact({
    ...written,
    name,
    namespace: resource.isNamespaced ? namespace : undefined,
    uid: newUid(world.random),
    resourceVersion: '',
    generation: resource.countsGenerations ? 1 : undefined,
    creationTimestamp: timestamp(world.clock.now()),
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
  }) as unknown as Meta;
}

/** Creates an object that is read already; managed fields are noted unless an apply has set them. */
export function createFrom(ask: WriteAsk, written: Fields): KubeObject {
  const { world, resource, namespace } = ask;
  const metadata = written.metadata as Fields;
  if (textOf(metadata.resourceVersion) !== '') {
    throw refuse('BadRequest', 'resourceVersion should not be set on objects to be created');
  }
  const name = nameFor(ask, metadata);
  checkNamespace(ask, name);
  const meta = freshMeta(ask, metadata, name);
  const { status: _status, ...rest } = written;
  const isStatusApart = resource.hasStatus && !resource.takesStatus;
  const draft = { ...(isStatusApart ? rest : written), metadata: meta } as KubeObject;
  const admitted = admit(ask, resource.conversion?.toStored(draft) ?? draft, undefined);
  const made =
    ask.writer.operation === 'Apply' ? admitted : noteUpdate(undefined, withoutOwners(admitted), resource, ask.writer);
  if (world.store.get(storageOf(resource), resource.isNamespaced ? namespace : undefined, name)) {
    throw alreadyExists(resource, name);
  }
  return ask.isDryRun ? made : world.store.add(storageOf(resource), made);
}

const withoutOwners = (object: KubeObject): KubeObject => {
  const { managedFields: _gone, ...metadata } = object.metadata;
  return { ...object, metadata };
};

export const createObject = (ask: WriteAsk): KubeObject =>
  createFrom(ask, readObject(parseBody(ask.body, ask.headers), ask.resource, ask.namespace));
