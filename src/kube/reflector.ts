import { type Clock, HOUR_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Random } from '#core/random.ts';
import { inSlices } from '#core/slices.ts';
import type { Kube } from './client.ts';
import { isExpired, isResourceUnknown, statusOf } from './faults.ts';
import type { KubeQuery } from './listing.ts';
import type { KubeObject } from './object.ts';
import { type KubeResource, qualifiedName } from './resource.ts';
import { openView } from './view.ts';
import type { WatchEvent } from './watching.ts';

export interface ReflectorDeps {
  readonly kube: Pick<Kube, 'pages' | 'watch'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface ReflectorOptions<T> {
  readonly resource: KubeResource;
  readonly query: KubeQuery;
  /** What of each object stays in memory. */
  keep(object: KubeObject): T;
}

/** Hears each change of a view: the object as it is now, or nothing where it is gone. */
export type ChangeHeard<T> = (key: string, object: T | undefined) => void;

/** A set of objects of a cluster, followed by list and watch; it never stops by itself. */
export interface Reflector<T> {
  /** By `namespace/name`, as of the last word of the API server. The same map, always. */
  all(): ReadonlyMap<string, T>;
  /** Resolves once the whole set is there; throws the fault that keeps it away. */
  ready(signal: AbortSignal): Promise<void>;
  /**
   * Resolves once the API server has confirmed the set within that time: by an event, a bookmark, a watch that it ended
   * properly, or a list. Where it has not, waits for the next word of it, or throws the fault that stands in the way.
   */
  freshWithin(ms: number, signal: AbortSignal): Promise<void>;
  /** A relist reports what it finds changed, deletions too. The returned function ends it. */
  onChange(heard: ChangeHeard<T>): () => void;
  /** Why the view does not follow the cluster at this moment. */
  fault(): Fault | undefined;
  /**
   * Shows an object that this process has just made, before the watch does: however late that is, what we made is never
   * missed. A list from before does not take it away.
   */
  learn(object: KubeObject): void;
  close(): Promise<void>;
}

// A quiet API server confirms a view by the end of a watch, and by a bookmark two seconds before. Readers that want one of
// at most ten seconds ago never wait then; a connection that died without a word is noticed soon. It costs nine requests a
// minute and view.
const WATCH_SECONDS = { least: 6, most: 8 };
const STALL_MS = 5 * SECOND_MS;
const SHORTEST_WATCH_MS = SECOND_MS;
const EARLY_MS = 2 * SECOND_MS;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 10 * SECOND_MS;
// Someone is about to install its definition, and then waits for us. With the jitter it is never ten seconds.
const LONGEST_UNKNOWN_BACKOFF_MS = 5 * SECOND_MS;
const LONGEST_RETRY_AFTER_MS = 30 * SECOND_MS;
// A watch that breaks once or twice recovers by itself.
const FAILURES_TO_WARN = 3;
const WARN_EVERY = 30;

/** How long to wait after `failures` in a row. The longest keeps a recovered API server unseen for some seconds only. */
export function backoffMs(fault: Fault, failures: number, random: number): number {
  // A forgotten version needs a list, not a pause; but not over and over.
  if (failures === 1 && isExpired(fault)) return 0;
  const longestMs = isResourceUnknown(fault) ? LONGEST_UNKNOWN_BACKOFF_MS : LONGEST_BACKOFF_MS;
  const growingMs = Math.min(longestMs, FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 10));
  const askedMs = Math.min(LONGEST_RETRY_AFTER_MS, fault.retryAfterMs ?? 0);
  return Math.max(askedMs, growingMs) * (0.75 + random / 2);
}

/** After these a watch cannot go on where it was: an error within the stream, or a version that the API server refuses. */
function needsList(fault: Fault): boolean {
  const status = statusOf(fault);
  if (isExpired(fault) || fault.kind === 'invalid' || status?.isEvent) return true;
  return status?.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge') === true;
}

export function openReflector<T>(deps: ReflectorDeps, { resource, query, keep }: ReflectorOptions<T>): Reflector<T> {
  const { kube, clock, random } = deps;
  const view = openView<T>(clock, deps.log, qualifiedName(resource));
  const what = { resource: qualifiedName(resource), namespace: query.namespace };
  const ending = new AbortController();
  let version: string | undefined;
  let failures = 0;
  let resyncAtMs = 0;

  async function list(): Promise<void> {
    const sinceMs = clock.monotonic();
    let found = new Map<string, { readonly version: string; readonly object: T }>();
    let listed = '';
    for await (const { items, isFirst, resourceVersion } of kube.pages(resource, query, ending.signal)) {
      if (isFirst) found = new Map();
      listed = resourceVersion;
      await inSlices(clock, items, (item) => found.set(...view.entryOf(item, keep)));
      // Other events get their turn between two pages, however fast they come.
      await new Promise<void>((resolve) => clock.soon(resolve));
    }
    version = listed;
    resyncAtMs = clock.monotonic() + HOUR_MS * (0.75 + random.next() / 2);
    await view.replace(found, listed);
    // Who waits for the whole set has much to do with it: in a turn of its own.
    await new Promise<void>((resolve) => clock.soon(resolve));
    view.confirm(sinceMs);
  }

  function take({ type, object }: WatchEvent): void {
    if (type === 'DELETED') view.remove(object);
    else if (type !== 'BOOKMARK') view.put(object, keep);
    const { resourceVersion } = object.metadata;
    if (resourceVersion !== undefined) {
      version = resourceVersion;
      view.reach(version, type === 'BOOKMARK');
    }
    confirmWatch();
  }

  function confirmWatch(): void {
    if (failures >= FAILURES_TO_WARN) deps.log('info', 'watch resumed', what);
    failures = 0;
    view.confirm(clock.monotonic());
  }

  /** Follows changes from `version` on, until the API server ends the watch or nothing comes from it any more. */
  async function watch(from: string): Promise<void> {
    const { least, most } = WATCH_SECONDS;
    const timeoutSeconds = least + Math.floor(random.next() * (most - least + 1));
    const startMs = clock.monotonic();
    const stopped = new AbortController();
    const signal = AbortSignal.any([ending.signal, stopped.signal]);
    const cancel = clock.alarm(timeoutSeconds * SECOND_MS + STALL_MS, () => stopped.abort());
    let events = 0;
    try {
      const opened = kube.watch(resource, { ...query, resourceVersion: from, timeoutSeconds }, signal);
      for await (const event of opened) {
        events += 1;
        take(event);
      }
    } catch (thrown) {
      const fault = stopped.signal.aborted
        ? new Fault('unavailable', `The API server fell silent in a watch of ${qualifiedName(resource)}.`)
        : Fault.from(thrown);
      if (needsList(fault)) version = undefined;
      throw fault;
    } finally {
      cancel();
    }
    ended(events, clock.monotonic() - startMs, timeoutSeconds * SECOND_MS);
  }

  function ended(events: number, afterMs: number, askedMs: number): void {
    // One that ends at once, again and again, would be asked for without a pause.
    if (events === 0 && afterMs < SHORTEST_WATCH_MS)
      throw new Fault('unavailable', `The API server ended a watch of ${qualifiedName(resource)} at once.`);
    if (afterMs >= askedMs - EARLY_MS) return confirmWatch();
    // So the API server ends the watch of a reader that falls behind. From the last version on it reports all the rest: a
    // list each time would take longer than the next watch lasts. One without an event has not brought us on.
    if (events === 0) version = undefined;
  }

  async function step(): Promise<void> {
    if (version === undefined || clock.monotonic() >= resyncAtMs) await list();
    if (version !== undefined) await watch(version);
  }

  /** One line in the log for each trouble and every few minutes of it, not for each try. */
  function report(fault: Fault, waitMs: number): void {
    const isLoud = failures % WARN_EVERY === FAILURES_TO_WARN;
    deps.log(isLoud ? 'warn' : 'debug', 'the view of a cluster does not follow', {
      ...what,
      fault: fault.message,
      failures,
      retryInMs: Math.round(waitMs),
    });
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        await step();
      } catch (thrown) {
        if (ending.signal.aborted) return;
        const fault = Fault.from(thrown);
        failures += 1;
        view.fail(fault);
        const waitMs = backoffMs(fault, failures, random.next());
        report(fault, waitMs);
        await clock.sleep(waitMs, ending.signal);
      }
    }
  }

  const running = run();
  return {
    all: view.all,
    ready: view.ready,
    freshWithin: view.freshWithin,
    onChange: view.onChange,
    fault: view.fault,
    learn: (object) => view.learn(object, keep),
    async close() {
      ending.abort();
      view.close();
      await running;
    },
  };
}
