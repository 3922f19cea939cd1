import type { OutputChunk, Session } from '#core/session.ts';
import type { Change, Store } from '#core/store.ts';
import { isSooner } from '#sessions/queue.ts';
import type { Invariants } from '../invariants.ts';
import type { RunLaws } from './runs.ts';

/** The lives of sessions, as they become durable. */
export interface SessionLaws {
  written(changes: readonly Change[]): void;
  /** Follows placements in one life of the server. */
  watch(store: Store, isAlive: () => boolean): void;
  hasEnded(session: string): boolean;
  outputKept(session: string, attempt: number): number;
  readonly ends: ReadonlyMap<string, number>;
}

export interface SessionLawsOptions {
  readonly invariants: Invariants;
  readonly runs: RunLaws;
  ended(session: Session): void;
}

// The queue stands nearly in order, so a session that is passed over is among the first.
const MOST_COMPARED = 32;

export function sessionLaws({ invariants, runs, ended }: SessionLawsOptions): SessionLaws {
  const over = new Set<string>();
  const ends = new Map<string, number>();
  const output = new Map<string, { attempt: number; seq: number; count: number }>();

  function kept({ session, attempt, seq }: OutputChunk): void {
    const known = output.get(session);
    if (known?.attempt !== attempt) output.set(session, { attempt, seq, count: 1 });
    else {
      known.seq = Math.max(known.seq, seq);
      known.count += 1;
    }
  }

  function end(session: Session): void {
    const { id, attempt } = session;
    invariants.holds('one-end', !over.has(id), () => `session ${id} ended twice`);
    over.add(id);
    const how = session.end?.how ?? 'none';
    ends.set(how, (ends.get(how) ?? 0) + 1);
    if (how === 'exited') checkOutput(session, runs.find(id, attempt)?.lastSeq ?? 0);
    output.delete(id);
    runs.forget(id);
    ended(session);
  }

  function checkOutput({ id, attempt }: Session, made: number): void {
    const known = output.get(id);
    const { seq, count } = known?.attempt === attempt ? known : { seq: 0, count: 0 };
    invariants.holds(
      'whole-output',
      seq === made && count === made,
      () => `session ${id} made ${made} pieces of output; ${count} were kept, the last is ${seq}`,
    );
  }

  function take(change: Change): void {
    if (!('append' in change)) {
      if (change.table !== 'sessions' || !change.row) return;
      const isLive = !over.has(change.id);
      invariants.holds('one-end', isLive, () => `session ${change.id} ended, and is live again`);
    } else if (change.append === 'output') kept(change.row);
    else if (change.append === 'ended') end(change.row);
  }

  function placed(store: Store, session: Session): void {
    let left = MOST_COMPARED;
    for (const waiting of store.view.sessions.by('queue', session.pool)) {
      if (left-- === 0) return;
      invariants.holds(
        'fifo',
        !isSooner(waiting, session),
        () => `session ${session.id} was placed before ${waiting.id}, which came first`,
      );
    }
  }

  return {
    ends,
    hasEnded: (session) => over.has(session),
    outputKept(session, attempt) {
      const known = output.get(session);
      return known?.attempt === attempt ? known.seq : 0;
    },
    written(changes) {
      for (const change of changes) take(change);
    },
    watch(store, isAlive) {
      store.onChange('sessions', (after, before) => {
        if (after?.worker !== undefined && before?.worker === undefined && isAlive()) placed(store, after);
      });
    },
  };
}
