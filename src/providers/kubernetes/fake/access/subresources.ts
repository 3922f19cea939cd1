// Subresources that do something: tokens of service accounts, evictions of pods.
import { fieldsOf, type KubeObject, timestamp } from '../objects/object.ts';
import { getObject } from '../objects/reading.ts';
import { withCondition } from '../pods/status.ts';
import { jsonResponse } from '../wire/form.ts';
import { success } from '../wire/status.ts';
import type { World } from '../world.ts';
import type { WriteAsk } from '../writes/ask.ts';
import { checkPreconditions, deleteOptions, removeObject } from '../writes/delete.ts';
import { spendBudget } from './eviction.ts';
import type { Users } from './users.ts';

const DEFAULT_TOKEN_SECONDS = 3_600;

function requestToken({ world, resource, namespace, name = '', body }: WriteAsk, users: Users): Response {
  const account = getObject(world, resource, namespace, name);
  const asked = fieldsOf(JSON.parse(body));
  const seconds = Number(fieldsOf(asked.spec).expirationSeconds ?? DEFAULT_TOKEN_SECONDS);
  const { metadata } = account;
  const token = users.issue(`system:serviceaccount:${metadata.namespace}:${metadata.name}`, seconds * 1_000);
  const expirationTimestamp = timestamp(world.clock.now() + seconds * 1_000);
  return jsonResponse(JSON.stringify({ ...asked, metadata: {}, status: { token, expirationTimestamp } }), 201);
}

/** Marks a pod as disrupted and deletes it, as evictions and the scheduler's preemption do. */
export function disrupt(world: World, pod: KubeObject, reason: string, message: string): KubeObject {
  const status = withCondition(fieldsOf(pod.status), 'DisruptionTarget', true, world.clock.now(), { reason, message });
  return world.store.replace('/pods', { ...pod, status });
}

function evict(ask: WriteAsk): Response {
  const { world, resource, namespace, name = '' } = ask;
  const pod = getObject(world, resource, namespace, name);
  const written = fieldsOf(fieldsOf(JSON.parse(ask.body)).deleteOptions);
  const options = deleteOptions({ ...ask, body: JSON.stringify(written) });
  checkPreconditions(resource, pod, options);
  spendBudget(world, pod, options.isDryRun === true);
  // The mark is a write of its own, after which the pod has another version.
  const marked = options.isDryRun ? pod : disrupt(world, pod, 'EvictionByEvictionAPI', 'Eviction API: evicting');
  removeObject(world, resource, marked, { ...options, resourceVersion: undefined });
  return jsonResponse(JSON.stringify(success({})), 201);
}

/** Undefined where there is no such subresource. */
export function actOn(ask: WriteAsk, users: Users): Response | undefined {
  const which = `${ask.resource.group}/${ask.resource.plural}/${ask.subresource}`;
  if (which === '/serviceaccounts/token') return requestToken(ask, users);
  return which === '/pods/eviction' ? evict(ask) : undefined;
}
