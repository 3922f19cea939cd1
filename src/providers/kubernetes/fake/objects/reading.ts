// Get and list, with pages that show one moment.
import { Buffer } from 'node:buffer';
import { type Resource, storageOf } from '../api/resource.ts';
import { expired, notFound, refuse } from '../wire/status.ts';
import type { World } from '../world.ts';
import { compact, type Fields, type KubeObject } from './object.ts';
import { selection } from './selectors.ts';
import { keyOf } from './store.ts';

export function getObject(
  { store }: World,
  resource: Resource,
  namespace: string | undefined,
  name: string,
): KubeObject {
  const found = store.get(storageOf(resource), namespace, name);
  if (!found) throw notFound(resource, name);
  return found;
}

interface Cursor {
  readonly rv: number;
  /** The key of the last object shown. */
  readonly after: string;
  readonly atMs: number;
}

const write = (cursor: Cursor): string => Buffer.from(JSON.stringify(cursor)).toString('base64url');

function read(token: string): Cursor {
  try {
    const cursor = JSON.parse(Buffer.from(token, 'base64url').toString()) as Cursor;
    if (typeof cursor.after === 'string') return cursor;
  } catch {
    // Refused below.
  }
  throw refuse('BadRequest', 'continue key is not valid: illegal base64 data or version');
}

const TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.';

/** A revision that this API server does not know yet: the client has seen a newer one elsewhere. */
export function checkRevision({ store }: World, written: string): number {
  const revision = Number(written);
  if (!Number.isInteger(revision) || revision < 0) {
    throw refuse('BadRequest', `invalid resource version: ${written}`);
  }
  if (revision <= store.revision) return revision;
  throw refuse('Timeout', `Too large resource version: ${revision}, current: ${store.revision}`, {
    details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
    retryAfterSeconds: 1,
  });
}

function stateAt(world: World, resource: Resource, namespace: string | undefined, rv: number): readonly KubeObject[] {
  const objects = world.store.listAt(rv, storageOf(resource), namespace);
  if (!objects) throw expired(TOO_OLD);
  return objects;
}

function startOf(world: World, query: URLSearchParams): Cursor {
  const token = query.get('continue');
  const nowMs = world.clock.now();
  if (!token) {
    const asked = query.get('resourceVersion') || '0';
    const revision = checkRevision(world, asked);
    const isExact = query.get('resourceVersionMatch') === 'Exact';
    return { rv: isExact ? revision : world.store.revision, after: '', atMs: nowMs };
  }
  const cursor = read(token);
  if (nowMs - cursor.atMs > world.behaviour.tokenLifeMs) throw expired(TOO_OLD);
  return cursor;
}

export interface Listing {
  readonly objects: readonly KubeObject[];
  readonly metadata: Fields;
}

/** One page; the revision of all pages is that of the first. */
export function listObjects(
  world: World,
  resource: Resource,
  namespace: string | undefined,
  query: URLSearchParams,
): Listing {
  const { rv, after, atMs } = startOf(world, query);
  const isWanted = selection(query, resource);
  const all =
    rv === world.store.revision
      ? world.store.list(storageOf(resource), namespace)
      : stateAt(world, resource, namespace, rv);
  const left = all.filter(
    (object) => (after === '' || keyOf(object.metadata.namespace, object.metadata.name) > after) && isWanted(object),
  );
  const size = Math.min(Number(query.get('limit')) || Number.POSITIVE_INFINITY, world.behaviour.largestPage);
  const objects = left.slice(0, size);
  const last = objects.at(-1)?.metadata;
  const isCut = last !== undefined && left.length > objects.length;
  const isSelected = (query.get('labelSelector') || query.get('fieldSelector') || '') !== '';
  return {
    objects,
    metadata: compact({
      resourceVersion: String(rv),
      continue: isCut ? write({ rv, after: keyOf(last.namespace, last.name), atMs }) : undefined,
      remainingItemCount: isCut && !isSelected ? left.length - objects.length : undefined,
    }),
  };
}
