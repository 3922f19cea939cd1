// Opens, replaces and closes the configured sources.
import { Fault } from '#core/fault.ts';
import { withFields } from '#core/log.ts';
import { API_SOURCE } from '#core/source.ts';
import { drop, put } from '#core/store.ts';
import type { OpenedSource } from './opened-source.ts';
import type { Feed, Registry } from './registry.ts';
import type { Removals } from './removals.ts';
import { isSame } from './same.ts';
import type { Settle } from './settle.ts';

export interface FeedParts {
  readonly settle: Settle;
  readonly removals: Removals;
  /** Reads a source soon. */
  readonly poke: (source: string) => void;
}

function makeFeed({ deps }: Registry, opened: OpenedSource): Feed {
  return {
    opened,
    log: withFields(deps.log, { provisioner: opened.id }),
    closed: new AbortController(),
    timing: { everyMs: opened.everyMs, failures: 0 },
    readTick: 0,
    nextPollMs: deps.clock.monotonic(),
    isAsked: false,
    waiting: new Set(),
    staleNames: new Set(),
    outgrown: new Map(),
  };
}

const rulesOf = ({ trust, allow, place, kind }: OpenedSource) => ({ trust, allow, place, kind });

function mustBeDistinct(sources: readonly OpenedSource[]): void {
  const seen = new Set<string>([API_SOURCE]);
  for (const { id } of sources) {
    if (seen.has(id)) {
      const remedy =
        id === API_SOURCE ? 'Give it another name; "api" is taken.' : 'Give one of them a `name:` of its own.';
      throw new Fault('invalid', `Two sources are called "${id}".`, { at: 'provisioners', remedy });
    }
    seen.add(id);
  }
}

export function makeSetSources(registry: Registry, parts: FeedParts): (sources: readonly OpenedSource[]) => void {
  const { feeds, claims, deps } = registry;
  const { view } = deps.store;

  /** With the same source and rules, only its interval may have changed: nothing need be read again. */
  function keep(feed: Feed, opened: OpenedSource): boolean {
    if (feed.opened.source !== opened.source || !isSame(rulesOf(feed.opened), rulesOf(opened))) return false;
    const isIntervalNew = feed.opened.everyMs !== opened.everyMs;
    feed.opened = opened;
    feed.timing = { ...feed.timing, everyMs: opened.everyMs };
    if (isIntervalNew) {
      feed.nextPollMs = Math.min(feed.nextPollMs, deps.clock.monotonic() + opened.everyMs);
      parts.poke(opened.id);
    }
    return true;
  }

  function open(opened: OpenedSource): Feed {
    const feed = makeFeed(registry, opened);
    for (const name of claims.forget(opened.id)) feed.staleNames.add(name);
    for (const pool of view.pools.by('source', opened.id)) parts.removals.clear(pool);
    const row = view.sources.get(opened.id);
    if (row?.kind !== opened.kind) void registry.commit([put('sources', { ...row, id: opened.id, kind: opened.kind })]);
    try {
      opened.source.watch?.(() => parts.poke(opened.id), feed.closed.signal);
    } catch (thrown) {
      feed.log('warn', 'source cannot be watched', { error: Fault.from(thrown).message });
    }
    return feed;
  }

  /** The documents of a source that is gone say nothing any more; its pools are held, unless someone else wants them. */
  function close(source: string): void {
    const names = new Set(claims.forget(source));
    for (const { name } of view.pools.by('source', source)) names.add(name);
    const idle = [...view.documents.by('source', source)].filter(({ pool }) => pool === undefined);
    if (idle.length > 0) void registry.commit(idle.map(({ id }) => drop('documents', id)));
    for (const name of names) parts.settle(name);
  }

  function place(opened: OpenedSource, known: Feed | undefined): void {
    const feed = known && keep(known, opened) ? known : open(opened);
    if (feed !== known) known?.closed.abort();
    feeds.set(opened.id, feed);
    if (feed.readTick === 0) parts.poke(opened.id);
  }

  return (sources) => {
    mustBeDistinct(sources);
    const before = new Map(feeds);
    feeds.clear();
    for (const opened of sources) place(opened, before.get(opened.id));
    for (const [id, feed] of before) {
      if (!feeds.has(id)) feed.closed.abort();
    }
    const vanished = [...view.sources.all()].filter(({ id }) => !feeds.has(id));
    for (const { id } of vanished) close(id);
    parts.removals.review();
  };
}
