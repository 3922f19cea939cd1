// One call about objects, from its verb to its answer.

import { actOn } from './access/subresources.ts';
import type { Users } from './access/users.ts';
import { unknownPath } from './api/plain-paths.ts';
import type { Resource } from './api/resource.ts';
import { getObject, listObjects } from './objects/reading.ts';
import { watchObjects } from './objects/watching.ts';
import { formOf, jsonResponse } from './wire/form.ts';
import type { KubeCall } from './wire/read-call.ts';
import { refuse } from './wire/status.ts';
import type { World } from './world.ts';
import { type WriteAsk, writeAsk } from './writes/ask.ts';
import { createObject } from './writes/create.ts';
import { deleteCollection, deleteObject } from './writes/delete.ts';
import { patchObject, updateObject } from './writes/update.ts';

export interface ObjectAsk {
  readonly world: World;
  readonly users: Users;
  readonly call: KubeCall;
  readonly resource: Resource;
  readonly signal: AbortSignal;
}

const warned = (ask: WriteAsk): Record<string, string> =>
  ask.warnings.length === 0
    ? {}
    : { warning: ask.warnings.map((text) => `299 - "${text.replaceAll('"', '\\"')}"`).join(', ') };

type Answer = (ask: ObjectAsk, write: () => WriteAsk) => Response;

const formFor = ({ call, resource, world }: ObjectAsk) =>
  formOf(resource, call.headers.get('accept') ?? '', call.query, world.clock.now());

const VERBS: Readonly<Record<string, Answer>> = {
  get(ask) {
    const { world, resource, call } = ask;
    const object = getObject(world, resource, call.target?.namespace, call.target?.name ?? '');
    return jsonResponse(formFor(ask).object(object));
  },
  list(ask) {
    const { world, resource, call } = ask;
    const { objects, metadata } = listObjects(world, resource, call.target?.namespace, call.query);
    return jsonResponse(formFor(ask).list(objects, metadata));
  },
  watch(ask) {
    const { world, resource, call, signal } = ask;
    return watchObjects({
      world,
      resource,
      namespace: call.target?.namespace,
      query: call.query,
      form: formFor(ask),
      signal,
    });
  },
  create(ask, write) {
    const asked = write();
    const made = createObject(asked);
    return jsonResponse(formFor(ask).object(made), 201, warned(asked));
  },
  update(ask, write) {
    const asked = write();
    return jsonResponse(formFor(ask).object(updateObject(asked)), 200, warned(asked));
  },
  patch(ask, write) {
    const asked = write();
    const { made, isNew } = patchObject(asked);
    return jsonResponse(formFor(ask).object(made), isNew ? 201 : 200, warned(asked));
  },
  delete(_ask, write) {
    const { text } = deleteObject(write());
    return jsonResponse(JSON.stringify(text));
  },
  deletecollection(ask, write) {
    const objects = deleteCollection(write());
    return jsonResponse(formFor(ask).list(objects, { resourceVersion: String(ask.world.store.revision) }));
  },
};

/** Paths of namespaced resources name a namespace, unless they read all of them. */
function checkScope({ call, resource }: ObjectAsk): void {
  const { namespace, name } = call.target ?? {};
  if (!resource.isNamespaced && namespace !== undefined) throw unknownPath();
  const isForAll = ['list', 'watch'].includes(call.verb) && name === undefined;
  if (resource.isNamespaced && namespace === undefined && !isForAll) {
    throw refuse('MethodNotAllowed', 'the server does not allow this method on the requested resource');
  }
}

function checkSubresource({ call, resource }: ObjectAsk): void {
  const { subresource } = call.target ?? {};
  if (subresource === undefined) return;
  const isKnown = subresource === 'status' && resource.hasStatus && ['get', 'update', 'patch'].includes(call.verb);
  if (!isKnown) throw unknownPath();
}

export function answerObjects(ask: ObjectAsk): Response {
  const { call, resource, world } = ask;
  checkScope(ask);
  const acted = call.verb === 'create' && actOn(writeAsk(call, resource, world), ask.users);
  if (acted) return acted;
  checkSubresource(ask);
  const answer = VERBS[call.verb];
  if (!answer) throw refuse('MethodNotAllowed', 'the server does not allow this method on the requested resource');
  return answer(ask, () => writeAsk(call, resource, world));
}
