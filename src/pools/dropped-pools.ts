import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import type { Pool } from '#core/pool.ts';
import { API_SOURCE, type SourceState } from '#core/source.ts';
import { type Change, drop, put } from '#core/store.ts';
import type { Drops } from './apply-ownership.ts';
import { drainChanges } from './drain-pool.ts';
import { isSame } from './equal-data.ts';
import { isConfigured, type Registry } from './registry.ts';
import { judgeRemoval, type RemovalVerdict, recentRemovals } from './removal-guard.ts';

/** Pools without a definition, until they drain, are held, or are defined again. */
export interface DroppedPools extends Drops {
  /** Judges all of them again, the held ones and the others; call it after every listing, good or failed. */
  review(): void;
  /** What the removal of a dropped pool waits for; nothing where it is held or not dropped. */
  waitsFor(pool: Pool): string | undefined;
  /** Removes what is held of this source; `pools` is the number that the operator has seen. */
  approve(source: string, actor: Actor, pools?: number): Promise<void>;
}

// An event is for people; all keys are in the state of the source.
const MOST_KEYS_TOLD = 20;

interface Note {
  /** Who was read before this tick cannot tell whether the pool is defined again. */
  readonly sinceTick: number;
  /** Whether its owner, too, must be read once more. */
  readonly isOwnerAsked: boolean;
  /** Whether it belongs to those that are held; they are judged apart from the others. */
  readonly isApart: boolean;
  readonly isHeld: boolean;
  /** The sources that must be read first. */
  readonly asked: readonly string[];
}

export function keepDroppedPools(registry: Registry, ask: (source: string) => void): DroppedPools {
  const { deps } = registry;
  const { view } = deps.store;
  const notes = new Map<string, Note>();

  const isUnread = (source: string): boolean => registry.runners.get(source)?.readTick === 0;

  /** Source by source; those that are held apart from the others. */
  function droppedBySource(): Map<string, { readonly held: Pool[]; readonly others: Pool[] }> {
    const bySource = new Map<string, { readonly held: Pool[]; readonly others: Pool[] }>();
    for (const [id, { isApart }] of notes) {
      const pool = view.pools.get(id);
      if (!pool || pool.removal) {
        notes.delete(id);
        continue;
      }
      const dropped = bySource.get(pool.owner.source) ?? { held: [], others: [] };
      bySource.set(pool.owner.source, dropped);
      dropped[isApart ? 'held' : 'others'].push(pool);
    }
    return bySource;
  }

  function hold(source: string, dropped: readonly Pool[], why: string): void {
    const row = view.sources.get(source) ?? { id: source, kind: 'unknown' };
    const keys = dropped.map(({ owner }) => owner.key).toSorted();
    const held = { at: row.held?.at ?? deps.clock.now(), why, keys };
    if (isSame(row.held, held)) return;
    const changes: Change[] = [put('sources', { ...row, held })];
    // Also when it grows: an operator who has read of five must not approve eight unawares.
    const known = new Set(row.held?.keys);
    if (keys.some((key) => !known.has(key))) {
      deps.log('warn', 'removal held', { provisioner: source, pools: keys.length, why });
      const message = `The removal of ${keys.length} pools is held: ${why}`;
      const fields = { documents: keys.slice(0, MOST_KEYS_TOLD) };
      changes.push(deps.journal.event({ kind: 'source.held', subject: `source/${source}`, message, fields }));
    }
    void registry.commit(changes);
  }

  function release({ held: _held, ...row }: SourceState): void {
    void registry.commit([put('sources', row)]);
  }

  function removeAll(dropped: readonly Pool[], why: string, actor?: Actor): Change[] {
    for (const { id } of dropped) notes.delete(id);
    return dropped.flatMap((pool) => drainChanges(registry, pool, { why, actor }));
  }

  function noteAll(dropped: readonly Pool[], note: Partial<Note>): void {
    for (const { id } of dropped) notes.set(id, { ...(notes.get(id) as Note), ...note });
  }

  /** Keeps what was removed for the next judgements, in the same commit. */
  function removedChanges(source: string, dropped: readonly Pool[]): Change[] {
    const row = view.sources.get(source);
    if (!row || registry.runners.get(source)?.opened.source.isDefinite) return [];
    const nowMs = deps.clock.now();
    const removed = [...recentRemovals(row, nowMs), { at: nowMs, pools: dropped.map(({ name }) => name).toSorted() }];
    return [put('sources', { ...row, removed })];
  }

  function judge(source: string, dropped: readonly Pool[], held: readonly Pool[]): RemovalVerdict {
    const noted = dropped.map(({ id }) => notes.get(id) as Note);
    const isHeld = dropped === held;
    return judgeRemoval(registry, source, {
      pools: dropped,
      sinceTick: Math.max(...noted.map((note) => note.sinceTick)),
      isOwnerAsked: noted.some((note) => note.isOwnerAsked),
      isHeld,
      heldApart: isHeld ? 0 : held.length,
    });
  }

  function decide(source: string, dropped: readonly Pool[], held: readonly Pool[]): void {
    if (dropped.length === 0) return;
    const verdict = judge(source, dropped, held);
    if (verdict.do === 'wait') {
      noteAll(dropped, { asked: verdict.ask.map(({ opened }) => opened.id) });
      for (const { opened } of verdict.ask) ask(opened.id);
    } else if (verdict.do === 'hold' && dropped !== held) {
      noteAll(dropped, { isApart: true });
      const all = [...held, ...dropped];
      decide(source, all, all);
    } else if (verdict.do === 'hold') {
      hold(source, dropped, verdict.why);
      noteAll(dropped, { isHeld: true });
    } else if (dropped.some(({ id }) => notes.get(id)?.isHeld)) {
      // While they were held they may have been defined anew, anywhere: all sources are read once more.
      noteAll(dropped, { sinceTick: registry.tick(), isOwnerAsked: true, isHeld: false });
      decide(source, dropped, held);
    } else {
      const removed = removedChanges(source, dropped);
      void registry.commit([...removed, ...removeAll(dropped, `Source "${source}" no longer defines it.`)]);
    }
  }

  /** A source that is neither configured nor owns anything is forgotten. */
  function forgetSource({ id }: SourceState): void {
    const documents = [...view.documents.by('source', id)].map((row) => drop('documents', row.id));
    void registry.commit([drop('sources', id), ...documents]);
  }

  return {
    note(pool) {
      if (pool.owner.source === API_SOURCE || notes.has(pool.id)) return;
      const isApart = view.sources.get(pool.owner.source)?.held?.keys.includes(pool.owner.key) ?? false;
      notes.set(pool.id, { sinceTick: registry.tick(), isOwnerAsked: false, isApart, isHeld: false, asked: [] });
    },
    clear: ({ id }) => void notes.delete(id),
    review() {
      for (const [source, { held }] of droppedBySource()) decide(source, held, held);
      for (const [source, { held, others }] of droppedBySource()) decide(source, others, held);
      const left = droppedBySource();
      for (const row of [...view.sources.all()]) {
        if (!isConfigured(registry, row.id) && view.pools.count('source', row.id) === 0) forgetSource(row);
        else if (row.held && (left.get(row.id)?.held ?? []).length === 0 && !isUnread(row.id)) release(row);
      }
    },
    waitsFor({ id }) {
      const note = notes.get(id);
      if (!note || note.isHeld) return undefined;
      if (note.asked.length === 0) return 'All sources must be read first: one of them may define the pool now.';
      const sources = note.asked.map((source) => `"${source}"`).join(', ');
      return `Source ${sources} must be read first: it may define the pool now.`;
    },
    async approve(source, actor, pools) {
      const row = view.sources.get(source);
      if (!row) throw new Fault('missing', `There is no source "${source}".`);
      if (!row.held)
        throw new Fault('conflict', `Source "${source}" has no held removal.`, {
          remedy: 'See what is held with `muster source ls`.',
        });
      const { length: now } = row.held.keys;
      if (pools !== undefined && pools !== now) {
        const remedy = 'Look at the held removal again (`muster source show`), then approve that number.';
        throw new Fault('stale', `${now} pools of source "${source}" are held now, not ${pools}.`, { remedy });
      }
      if (isUnread(source)) {
        const remedy = 'Wait for its next listing, then approve.';
        throw new Fault('unavailable', `Source "${source}" has not been read since the server started.`, { remedy });
      }
      const keys = new Set(row.held.keys);
      const { held = [], others = [] } = droppedBySource().get(source) ?? {};
      const dropped = [...held, ...others].filter(({ owner }) => keys.has(owner.key));
      const { held: _held, ...released } = row;
      const place = registry.runners.get(source)?.opened.place ?? row.place;
      const message = `The removal of ${dropped.length} pools was approved.`;
      await registry.commit([
        put('sources', { ...released, place }),
        deps.journal.event({ kind: 'source.approved', subject: `source/${source}`, message }, actor),
        ...removeAll(dropped, `Source "${source}" no longer defines it; approved by ${actor.who}.`, actor),
      ]);
    },
  };
}
