// A watch: what has changed since a revision, and all that changes from then on.
import { apiVersionOf, type Resource, storageOf } from '../api/resource.ts';
import type { Form } from '../wire/form.ts';
import { expired, invalid, statusOf } from '../wire/status.ts';
import type { World } from '../world.ts';
import type { Fields, KubeObject } from './object.ts';
import { checkRevision } from './reading.ts';
import { selection } from './selectors.ts';
import type { Change } from './store.ts';
import type { OpenWatch } from './watches.ts';

export interface WatchAsk {
  readonly world: World;
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly query: URLSearchParams;
  readonly form: Form;
  readonly signal: AbortSignal;
}

const line = (type: string, text: string): string => `{"type":"${type}","object":${text}}`;

/** What a change is for a reader who sees only a part. */
function seenAs(change: Change, isSeen: (object: KubeObject) => boolean): Change['type'] | undefined {
  const was = change.previous !== undefined && isSeen(change.previous);
  const is = change.type !== 'DELETED' && isSeen(change.object);
  if (is) return was ? 'MODIFIED' : 'ADDED';
  return was ? 'DELETED' : undefined;
}

/** An object that leaves the selection is shown as it was, with the revision of the change. */
const shownObject = ({ type, object, previous }: Change, seen: Change['type']): KubeObject =>
  seen === 'DELETED' && type !== 'DELETED' && previous
    ? { ...previous, metadata: { ...previous.metadata, resourceVersion: object.metadata.resourceVersion } }
    : object;

function bookmark({ resource, world }: WatchAsk, annotations?: Fields): string {
  const metadata = { resourceVersion: String(world.store.revision), ...(annotations ? { annotations } : {}) };
  return line('BOOKMARK', JSON.stringify({ kind: resource.kind, apiVersion: apiVersionOf(resource), metadata }));
}

const LAST_BOOKMARK_MS = 2_000;

/** Bookmarks and the end of a watch, on the clock; returns what cancels them. */
function schedule(ask: WatchAsk, watch: OpenWatch): () => void {
  const { world, query } = ask;
  const { clock, behaviour } = world;
  const lifeMs = Number(query.get('timeoutSeconds')) * 1_000 || behaviour.watchMs;
  const cancels: (() => void)[] = [clock.alarm(lifeMs, () => watch.end())];
  if (query.get('allowWatchBookmarks') === 'true') {
    const mark = (): void => watch.send(bookmark(ask));
    cancels.push(clock.alarm(Math.max(0, lifeMs - LAST_BOOKMARK_MS), mark));
    let cancelNext = (): void => {};
    const again = (): void => {
      cancelNext = clock.alarm(behaviour.bookmarkEveryMs, () => {
        mark();
        again();
      });
    };
    again();
    cancels.push(() => cancelNext());
  }
  return () => {
    for (const cancel of cancels) cancel();
  };
}

const INITIAL_END = { 'k8s.io/initial-events-end': 'true' };

function checkInitial({ world, query }: WatchAsk): boolean {
  if (query.get('sendInitialEvents') !== 'true') return false;
  if (world.behaviour.streamsLists) return true;
  throw invalid({ kind: 'ListOptions', group: 'meta.k8s.io' }, '', [
    {
      reason: 'FieldValueForbidden',
      field: 'sendInitialEvents',
      message: 'Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
    },
  ]);
}

/** Sends what lies before the watch; false if that is forgotten. */
function catchUp(ask: WatchAsk, watch: OpenWatch, hear: (change: Change) => void): boolean {
  const { world, resource, namespace, query, form } = ask;
  const isSeen = selection(query, resource);
  const sendsInitial = checkInitial(ask);
  const from = query.get('resourceVersion') ?? '';
  if (sendsInitial || from === '' || from === '0') {
    const objects = world.store.list(storageOf(resource), namespace).filter(isSeen);
    for (const object of objects) watch.send(line('ADDED', form.object(object)));
    if (sendsInitial) watch.send(bookmark(ask, INITIAL_END));
    return true;
  }
  const missed = world.store.since(checkRevision(world, from));
  if (!missed) {
    const refused = expired(`too old resource version: ${from} (${world.store.forgotten})`);
    watch.send(line('ERROR', JSON.stringify(statusOf(refused))));
    return false;
  }
  for (const change of missed) hear(change);
  return true;
}

export function watchObjects(ask: WatchAsk): Response {
  const { world, resource, namespace, query, form, signal } = ask;
  const storage = storageOf(resource);
  const isWanted = selection(query, resource);
  const isSeen = (object: KubeObject): boolean =>
    (namespace === undefined || object.metadata.namespace === namespace) && isWanted(object);
  checkInitial(ask);
  if (query.get('resourceVersion')) checkRevision(world, query.get('resourceVersion') as string);
  let release = (): void => {};
  const watch = world.watches.open(resource.plural, signal, () => release());
  const hear = (change: Change): void => {
    if (change.storage !== storage) return;
    const seen = seenAs(change, isSeen);
    if (seen) watch.send(line(seen, form.object(shownObject(change, seen))));
  };
  if (!catchUp(ask, watch, hear)) {
    watch.end();
    return watch.response;
  }
  const stop = world.store.watch(hear);
  const cancel = schedule(ask, watch);
  release = () => {
    stop();
    cancel();
  };
  if (signal.aborted) release();
  return watch.response;
}
