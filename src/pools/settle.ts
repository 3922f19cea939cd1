// Brings one name, read afresh, to what the sources say of it: the pool, its owner, and the state of each document.
import type { Actor } from '#core/journal.ts';
import type { Pool } from '#core/pool.ts';
import { type DocumentState, documentId } from '#core/source.ts';
import { type Change, drop, put } from '#core/store.ts';
import type { Claim } from './claims.ts';
import { type Contest, contestFor } from './contest.ts';
import { actorOf, describeDocument, formPool } from './pool-change.ts';
import type { Registry } from './registry.ts';
import { isSame } from './same.ts';

/** Pools that no document defines any more. */
export interface Drops {
  note(pool: Pool): void;
  clear(pool: Pool): void;
}

/** Answers whether anything changed. */
export type Settle = (name: string, actor?: Actor) => boolean;

/** The row of a document that was read, unless it is as it should be already. */
export function documentChange(
  { deps }: Registry,
  { source, key, version }: Claim,
  state: Pick<DocumentState, 'pool' | 'fault'>,
): Change[] {
  const id = documentId(source, key);
  const before = deps.store.view.documents.get(id);
  const readAt = before?.version === version ? before.readAt : deps.clock.now();
  const row: DocumentState = { ...before, ...state, id, source, key, version, readAt, missed: 0 };
  return isSame(before, row) ? [] : [put('documents', row)];
}

function rivalsNotice(name: string, losers: readonly Claim[]): DocumentState['fault'] {
  const [first] = losers;
  if (!first) return undefined;
  const others = losers.length > 1 ? ` and ${losers.length - 1} more` : '';
  const message = `Pool "${name}" is defined a second time by ${describeDocument(first)}${others}. This definition is in force; remove or rename the other.`;
  return { kind: 'conflict', message };
}

function winnerChanges(registry: Registry, contest: Contest, actor?: Actor): Change[] {
  const { winner, pool: before, name } = contest;
  if (!winner?.spec) return [];
  const { pool, changes } = formPool(registry, before, { claim: { ...winner, spec: winner.spec }, actor });
  // One copy of the definition in memory is enough.
  if (pool.spec !== winner.spec) registry.claims.set({ ...winner, spec: pool.spec });
  return [
    ...changes,
    ...documentChange(registry, winner, { pool: pool.id, fault: rivalsNotice(name, contest.losers) }),
    ...leftBehind(registry, before, pool),
  ];
}

/** The row of the document that owned the pool before, where no document stands there any more. */
function leftBehind({ deps, claims }: Registry, before: Pool | undefined, { owner }: Pool): Change[] {
  if (!before || (before.owner.source === owner.source && before.owner.key === owner.key)) return [];
  const row = deps.store.view.documents.get(documentId(before.owner.source, before.owner.key));
  const isGone = !claims.get(before.owner.source, before.owner.key) && row?.pool === before.id;
  return isGone ? [drop('documents', row.id)] : [];
}

/** A pool whose owner could not be asked yet: the claim waits, and what was known of it stays. */
function waitingChanges(registry: Registry, loser: Claim, pool: Pool): Change[] {
  const before = registry.deps.store.view.documents.get(documentId(loser.source, loser.key));
  if (before?.version === loser.version && before.missed === 0) return [];
  const message = `Pool "${pool.name}" still belongs to ${describeDocument(pool.owner)}; it moves here once that is known to be gone.`;
  return documentChange(registry, loser, { pool: undefined, fault: { kind: 'conflict', message } });
}

export const secondDefinition = (name: string, owner: Pick<Claim, 'source' | 'key'>): string =>
  `Pool "${name}" is owned by ${describeDocument(owner)}; this second definition changes nothing.`;

export const ONE_OF_TWO = 'Remove or rename one of the two.';

function loserChanges(registry: Registry, loser: Claim, { id, name, owner }: Pool): Change[] {
  const before = registry.deps.store.view.documents.get(documentId(loser.source, loser.key));
  const message = `${secondDefinition(name, owner)} ${ONE_OF_TWO}`;
  const changes = documentChange(registry, loser, { pool: undefined, fault: { kind: 'conflict', message } });
  if (before?.fault?.message === message) return changes;
  const event = registry.deps.journal.event(
    {
      kind: 'pool.conflict',
      subject: `pool/${name}`,
      pool: id,
      message: `Defined by ${describeDocument(owner)} and again by ${describeDocument(loser)}; the first stays in force.`,
    },
    actorOf(loser),
  );
  return [...changes, event];
}

function losersChanges(registry: Registry, { losers, standing, winner, name }: Contest): Change[] {
  const pool = registry.poolNamed(name);
  if (!pool) return [];
  if (standing === 'waiting' && !winner) return losers.flatMap((loser) => waitingChanges(registry, loser, pool));
  return losers.flatMap((loser) => loserChanges(registry, loser, pool));
}

export function makeSettle(registry: Registry, drops: Drops): Settle {
  function apply(changes: readonly Change[]): boolean {
    if (changes.length === 0) return false;
    void registry.commit(changes);
    return true;
  }

  return (name, actor) => {
    const contest = contestFor(registry, name);
    const isFormed = apply(winnerChanges(registry, contest, actor));
    const isReported = apply(losersChanges(registry, contest));
    const pool = registry.poolNamed(name);
    if (pool && contest.standing === 'dropped' && !contest.winner && !pool.removal) drops.note(pool);
    else if (pool) drops.clear(pool);
    return isFormed || isReported;
  };
}
