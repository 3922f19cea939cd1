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
export interface ReflectorView<T> extends Omit<Reflector<T>, 'close' | 'learn'> {
  entryOf(object: KubeObject, keep: (object: KubeObject) => T): [key: string, entry: Entry<T>];
  put(object: KubeObject, keep: (object: KubeObject) => T): void;
  remove(object: KubeObject): void;
  /** Takes a whole list of that version over at once, then reports all differences. */
  replace(found: ReadonlyMap<string, Entry<T>>, version: string): Promise<void>;
  /** The watch has reported everything up to that version; a bookmark says so though nothing of ours has changed. */
  reach(version: string, isBookmark: boolean): void;
  learn(object: KubeObject, keep: (object: KubeObject) => T): void;
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

const WHOLE_NUMBER = /^[1-9]\d*$/;

/** Whether a version came about after another; false where they cannot be compared. */
function isLater(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined || !WHOLE_NUMBER.test(one) || !WHOLE_NUMBER.test(other)) return false;
  return one.length === other.length ? one > other : one.length > other.length;
}

export function openView<T>(clock: Clock, log: Log, what: string): ReflectorView<T> {
  const objects = new Map<string, T>();
  const versions = new Map<string, string>();
  const hearing = new Set<ChangeHeard<T>>();
  const waiters = new Set<Waiter>();
  /** By key, the version of what we have written ourselves and neither list nor watch has shown yet. */
  const ahead = new Map<string, string>();
  let reached: string | undefined;
  let confirmedAtMs: number | undefined;
  let standing: Fault | undefined;
  let isClosed = false;

  function tell(key: string, object: T | undefined): void {
    for (const heard of hearing) {
      try {
        heard(key, object);
      } catch (thrown) {
        // The bug of one reader must not keep changes from the others.
        log('error', 'watch callback failed', { what, key, fault: Fault.from(thrown).message });
      }
    }
  }

  function set(key: string, { version, object }: Entry<T>): void {
    versions.set(key, version);
    objects.set(key, object);
  }

  function drop(key: string): void {
    ahead.delete(key);
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

  /** Whether a list of that version shows it no longer, or made anew: that is first reported as gone. */
  function isGone([key, version]: readonly [string, string], now: Entry<T> | undefined, listed: string): boolean {
    return now === undefined ? !isLater(ahead.get(key), listed) : uidOf(now.version) !== uidOf(version);
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
      ahead.delete(key);
      set(key, entry);
      tell(key, entry.object);
    },
    remove(object) {
      const key = keyOfObject(object);
      if (!objects.has(key)) return;
      drop(key);
      tell(key, undefined);
    },
    learn(object, keep) {
      const { resourceVersion } = object.metadata;
      const [key, entry] = entryOf(object, keep);
      // The watch may have been faster, and have reported its end too.
      if (resourceVersion === undefined || !isLater(resourceVersion, reached) || objects.has(key)) return;
      ahead.set(key, resourceVersion);
      set(key, entry);
      tell(key, entry.object);
    },
    reach(version, isBookmark) {
      reached = version;
      if (!isBookmark) return;
      // What the watch has not reported by now does not match what we follow: another client has taken our labels off.
      for (const [key, of] of ahead) {
        if (isLater(of, version)) continue;
        drop(key);
        tell(key, undefined);
      }
    },
    async replace(found, listed) {
      // Ten thousand are compared first, and few differ: only these are taken over in one go.
      const gone: string[] = [];
      const fresh: (readonly [key: string, entry: Entry<T>])[] = [];
      await inSlices(clock, [...versions], (known) => {
        if (isGone(known, found.get(known[0]), listed)) gone.push(known[0]);
      });
      await inSlices(clock, found, ([key, entry]) => {
        ahead.delete(key);
        if (versions.get(key) !== entry.version) fresh.push([key, entry]);
      });
      reached = listed;
      for (const key of gone) if (!found.has(key)) drop(key);
      for (const [key, entry] of fresh) set(key, entry);
      await inSlices(clock, gone, (key) => tell(key, undefined));
      await inSlices(clock, fresh, ([key, { object }]) => tell(key, object));
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
