import { storageOf } from '../api/resource.ts';
import { type Fields, type KubeObject, textOf } from '../objects/object.ts';
import { getObject } from '../objects/reading.ts';
import { applyConfiguration } from '../patches/apply.ts';
import { jsonPatch } from '../patches/json-patch.ts';
import { mergePatch } from '../patches/merge-patch.ts';
import { strategicPatch } from '../patches/strategic-patch.ts';
import { served } from '../wire/form.ts';
import { invalid, refuse } from '../wire/status.ts';
import { APPLY_TYPE, contentType, type WriteAsk } from './ask.ts';
import { parseBody, readObject } from './body.ts';
import { createFrom } from './create.ts';
import { replaceObject } from './replace.ts';

const nameOf = ({ name }: WriteAsk): string => name ?? '';

/** PUT. */
export function updateObject(ask: WriteAsk): KubeObject {
  const { world, resource, namespace } = ask;
  const draft = readObject(parseBody(ask.body, ask.headers), resource, namespace) as KubeObject;
  if (draft.metadata.name !== nameOf(ask)) {
    const [given, wanted] = [draft.metadata.name ?? '', nameOf(ask)];
    throw refuse('BadRequest', `the name of the object (${given}) does not match the name on the URL (${wanted})`);
  }
  const old = getObject(world, resource, namespace, nameOf(ask));
  if (resource.isCustom && !draft.metadata.resourceVersion) {
    throw invalid(resource, nameOf(ask), [
      {
        reason: 'FieldValueInvalid',
        field: 'metadata.resourceVersion',
        message: 'Invalid value: 0x0: must be specified for an update',
      },
    ]);
  }
  return replaceObject(ask, old, draft);
}

const PATCHES: Readonly<Record<string, (target: unknown, patch: unknown, ask: WriteAsk) => unknown>> = {
  'application/json-patch+json': jsonPatch,
  'application/merge-patch+json': mergePatch,
  'application/strategic-merge-patch+json': (target, patch, { resource }) => strategicPatch(target, patch, resource),
};

function applyObject(ask: WriteAsk): { made: KubeObject; isNew: boolean } {
  const { world, resource, namespace, writer, query } = ask;
  const config = readObject(parseBody(ask.body, ask.headers), resource, namespace);
  const metadata: Fields = { ...(config.metadata as Fields), name: nameOf(ask) };
  const live = world.store.get(storageOf(resource), namespace, nameOf(ask));
  const options = { resource, writer, isForced: query.get('force') === 'true' };
  const made = applyConfiguration(live && served(resource, live), { ...config, metadata }, options);
  if (live) return { made: replaceObject(ask, live, made), isNew: false };
  if (ask.subresource !== undefined) getObject(world, resource, namespace, nameOf(ask));
  return { made: createFrom(ask, made), isNew: true };
}

/** PATCH of any of the four kinds. */
export function patchObject(ask: WriteAsk): { made: KubeObject; isNew: boolean } {
  const { world, resource, namespace } = ask;
  const type = contentType(ask.headers);
  if (type === APPLY_TYPE) return applyObject(ask);
  const patch = PATCHES[type];
  if (!patch || (resource.isCustom && type.includes('strategic'))) {
    const accepted = [
      ...Object.keys(PATCHES).filter((one) => !resource.isCustom || !one.includes('strategic')),
      APPLY_TYPE,
    ];
    throw refuse(
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    );
  }
  const old = getObject(world, resource, namespace, nameOf(ask));
  const patched = patch(served(resource, old), parseBody(ask.body, ask.headers), ask);
  const draft = readObject(patched, resource, namespace) as KubeObject;
  const { metadata } = draft;
  // A patch is made on the newest object: only a revision that the patch itself names is a precondition.
  if (textOf(metadata.name) !== nameOf(ask)) {
    throw invalid(resource, nameOf(ask), [
      {
        reason: 'FieldValueInvalid',
        field: 'metadata.name',
        message: `Invalid value: "${metadata.name}": field is immutable`,
      },
    ]);
  }
  return { made: replaceObject(ask, old, draft), isNew: false };
}
