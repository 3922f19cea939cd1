import type { KubeObject } from './object.ts';

/** One change of one object. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Group and plural: versions of a resource share their objects. */
  readonly storage: string;
  readonly revision: number;
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
}

/** All objects of the cluster, each with the revision of its last change. */
export interface ObjectStore {
  /** Grows with each change of any object. */
  readonly revision: number;
  /** Changes up to this revision are forgotten. */
  readonly forgotten: number;
  get(storage: string, namespace: string | undefined, name: string): KubeObject | undefined;
  /** In the order of namespace and name. */
  list(storage: string, namespace?: string): readonly KubeObject[];
  /** As they were at a revision; undefined if that is forgotten. */
  listAt(revision: number, storage: string, namespace?: string): readonly KubeObject[] | undefined;
  add(storage: string, object: KubeObject): KubeObject;
  replace(storage: string, object: KubeObject): KubeObject;
  remove(storage: string, object: KubeObject): KubeObject;
  /** Changes after a revision; undefined if some are forgotten. */
  since(revision: number): readonly Change[] | undefined;
  watch(heard: (change: Change) => void): () => void;
  /** Forgets all earlier changes, as an API server that restarts or compacts. */
  forget(): void;
}

export const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;

const keyOfObject = ({ metadata }: KubeObject): string => keyOf(metadata.namespace, metadata.name);

interface Shelf {
  readonly byKey: Map<string, KubeObject>;
  /** Undefined after an object came or went. */
  inOrder: readonly KubeObject[] | undefined;
}

const sorted = (byKey: ReadonlyMap<string, KubeObject>): KubeObject[] =>
  [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);

const within = (objects: readonly KubeObject[], namespace: string | undefined): readonly KubeObject[] =>
  namespace === undefined ? objects : objects.filter(({ metadata }) => metadata.namespace === namespace);

// Real clusters do not start at one, and clients must not expect it.
const FIRST_REVISION = 100;

export function openStore(historyLimit: () => number): ObjectStore {
  const shelves = new Map<string, Shelf>();
  const watchers = new Set<(change: Change) => void>();
  let history: Change[] = [];
  let revision = FIRST_REVISION;
  let forgotten = FIRST_REVISION;
  const waiting: Change[] = [];
  let isTelling = false;

  function shelfOf(storage: string): Shelf {
    const known = shelves.get(storage);
    if (known) return known;
    const shelf: Shelf = { byKey: new Map(), inOrder: undefined };
    shelves.set(storage, shelf);
    return shelf;
  }

  // A watcher may write itself: all hear the changes in their order nevertheless.
  function tell(): void {
    isTelling = true;
    try {
      for (let next = waiting.shift(); next; next = waiting.shift()) for (const heard of [...watchers]) heard(next);
    } finally {
      isTelling = false;
    }
  }

  function note(change: Change): KubeObject {
    history.push(change);
    const limit = historyLimit();
    // Half at a time, so that a full history costs no shift at each change.
    if (history.length > 2 * limit) {
      forgotten = (history[history.length - limit - 1] as Change).revision;
      history = history.slice(-limit);
    }
    waiting.push(change);
    if (!isTelling) tell();
    return change.object;
  }

  function put(type: 'ADDED' | 'MODIFIED', storage: string, draft: KubeObject): KubeObject {
    revision += 1;
    const object = { ...draft, metadata: { ...draft.metadata, resourceVersion: String(revision) } };
    const shelf = shelfOf(storage);
    const key = keyOfObject(object);
    const previous = shelf.byKey.get(key);
    shelf.byKey.set(key, object);
    shelf.inOrder = undefined;
    return note({ type, storage, revision, object, previous });
  }

  const inOrder = (shelf: Shelf): readonly KubeObject[] => {
    shelf.inOrder ??= sorted(shelf.byKey);
    return shelf.inOrder;
  };

  function since(from: number): readonly Change[] | undefined {
    if (from < forgotten) return undefined;
    let low = history.length;
    while (low > 0 && (history[low - 1] as Change).revision > from) low -= 1;
    return history.slice(low);
  }

  return {
    get revision() {
      return revision;
    },
    get forgotten() {
      return forgotten;
    },
    get: (storage, namespace, name) => shelves.get(storage)?.byKey.get(keyOf(namespace, name)),
    list: (storage, namespace) => within(inOrder(shelfOf(storage)), namespace),
    listAt(at, storage, namespace) {
      const undone = since(at);
      if (!undone) return undefined;
      const byKey = new Map(shelfOf(storage).byKey);
      for (const { object, previous } of undone.filter((change) => change.storage === storage).toReversed()) {
        if (previous) byKey.set(keyOfObject(previous), previous);
        else byKey.delete(keyOfObject(object));
      }
      return within(sorted(byKey), namespace);
    },
    add: (storage, object) => put('ADDED', storage, object),
    replace: (storage, object) => put('MODIFIED', storage, object),
    remove(storage, last) {
      revision += 1;
      const object = { ...last, metadata: { ...last.metadata, resourceVersion: String(revision) } };
      const shelf = shelfOf(storage);
      const previous = shelf.byKey.get(keyOfObject(last));
      shelf.byKey.delete(keyOfObject(last));
      shelf.inOrder = undefined;
      return note({ type: 'DELETED', storage, revision, object, previous });
    },
    since,
    watch(heard) {
      watchers.add(heard);
      return () => void watchers.delete(heard);
    },
    forget() {
      history = [];
      forgotten = revision;
    },
  };
}
