import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { inSlices } from '#core/slices.ts';
import { type KubeObject, keyOfObject } from './object.ts';
import type { ChangeHeard, Reflector } from './reflector.ts';

interface Entry<T> {
  readonly version: string;
  readonly object: T;
}

/** What a reflector knows, who hears of it, and how fresh it is. */
export interface ReflectorView<T> extends Omit<Reflector<T>, 'close'> {
  entryOf(object: KubeObject, keep: (object: KubeObject) => T): [key: string, entry: Entry<T>];
  put(object: KubeObject, keep: (object: KubeObject) => T): void;
  remove(object: KubeObject): void;
  /** Takes a whole list over at once, then reports all differences. */
  replace(found: ReadonlyMap<string, Entry<T>>): Promise<void>;
  /** The API server has confirmed all of it as of that time. */
  confirm(atMs: number): void;
  fail(fault: Fault): void;
  close(): void;
}

interface Waiter {
  isDone(): boolean;
  resolve(): void;
  reject(fault: Fault): void;
}

// An object of the same name may be another one: the uid tells.
const versionOf = ({ metadata }: KubeObject): string => `${metadata.uid} ${metadata.resourceVersion}`;
const uidOf = (version: string): string => version.slice(0, version.indexOf(' '));

export function openView<T>(clock: Clock, log: Log, what: string): ReflectorView<T> {
  const objects = new Map<string, T>();
  const versions = new Map<string, string>();
  const hearing = new Set<ChangeHeard<T>>();
  const waiters = new Set<Waiter>();
  let confirmedAtMs: number | undefined;
  let standing: Fault | undefined;
  let isClosed = false;

  function tell(key: string, object: T | undefined): void {
    for (const heard of hearing) {
      try {
        heard(key, object);
      } catch (thrown) {
        // The bug of one reader must not keep changes from the others.
        log('error', 'a reader of a view of a cluster failed', { what, key, fault: Fault.from(thrown).message });
      }
    }
  }

  function set(key: string, { version, object }: Entry<T>): void {
    versions.set(key, version);
    objects.set(key, object);
  }

  function drop(key: string): void {
    versions.delete(key);
    objects.delete(key);
  }

  /** Waits until it is so; throws the fault that stands in the way. */
  function waitFor(isDone: () => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const givenUp = new Fault('unavailable', `Waiting for the list of ${what} was given up.`);
      if (isClosed) return reject(new Fault('unavailable', `The view of ${what} is closed.`));
      if (signal.aborted) return reject(givenUp);
      if (isDone()) return resolve();
      if (standing) return reject(standing);
      const end = (): void => {
        waiters.delete(waiter);
        signal.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        isDone,
        resolve() {
          end();
          resolve();
        },
        reject(fault) {
          end();
          reject(fault);
        },
      };
      const onAbort = (): void => waiter.reject(givenUp);
      waiters.add(waiter);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  function rejectAll(fault: Fault): void {
    for (const waiter of [...waiters]) waiter.reject(fault);
  }

  const entryOf: ReflectorView<T>['entryOf'] = (object, keep) => [
    keyOfObject(object),
    { version: versionOf(object), object: keep(object) },
  ];

  return {
    entryOf,
    all: () => objects,
    fault: () => standing,
    onChange(heard) {
      hearing.add(heard);
      return () => void hearing.delete(heard);
    },
    ready: (signal) => waitFor(() => confirmedAtMs !== undefined, signal),
    freshWithin(ms, signal) {
      const sinceMs = clock.monotonic() - ms;
      return waitFor(() => confirmedAtMs !== undefined && confirmedAtMs >= sinceMs, signal);
    },
    put(object, keep) {
      const [key, entry] = entryOf(object, keep);
      set(key, entry);
      tell(key, entry.object);
    },
    remove(object) {
      const key = keyOfObject(object);
      if (!objects.has(key)) return;
      drop(key);
      tell(key, undefined);
    },
    async replace(found) {
      const changes: (readonly [key: string, object: T | undefined])[] = [];
      for (const [key, version] of versions) {
        const now = found.get(key);
        // One that was made anew is first reported as gone.
        if (now === undefined || uidOf(now.version) !== uidOf(version)) changes.push([key, undefined]);
        if (now === undefined) drop(key);
      }
      for (const [key, entry] of found) {
        if (versions.get(key) === entry.version) continue;
        set(key, entry);
        changes.push([key, entry.object]);
      }
      await inSlices(clock, changes, ([key, object]) => tell(key, object));
    },
    confirm(atMs) {
      standing = undefined;
      confirmedAtMs = Math.max(confirmedAtMs ?? atMs, atMs);
      for (const waiter of [...waiters]) if (waiter.isDone()) waiter.resolve();
    },
    fail(fault) {
      standing = fault;
      rejectAll(fault);
    },
    close() {
      isClosed = true;
      hearing.clear();
      rejectAll(new Fault('unavailable', `The view of ${what} is closed.`));
    },
  };
}
