import { Fault } from '#core/fault.ts';
import { idMaker } from '#core/id.ts';
import type { Actor } from '#core/journal.ts';
import { nearest } from '#core/nearest.ts';
import type { Pool } from '#core/pool.ts';
import type { Session, SessionPart, SessionSpec } from '#core/session.ts';
import { put, type Store } from '#core/store.ts';
import { askedLabels } from './asked-labels.ts';
import type { Delivery } from './delivery.ts';
import { type SessionLimits, type SessionsDeps, whenDurable } from './deps.ts';
import { type HeldManifests, holdFiles, releaseFiles, withFiles } from './held-files.ts';
import { checkKey, findRepeat, hashOf, type Keyed, sessionKeyOf } from './idempotency-key.ts';
import type { OfferedLabels } from './offered-labels.ts';
import { keptOwner, type SessionOwner } from './owner.ts';
import { checkNames } from './session-name.ts';
import type { SessionRequest, Sessions } from './sessions.ts';
import { checkRequests } from './validate.ts';
import { workingDirectory } from './working-directory.ts';

export interface SubmitParts {
  readonly limits: SessionLimits;
  readonly labels: Pick<OfferedLabels, 'lacking'>;
  readonly delivery: Pick<Delivery, 'start'>;
  /** The session as placed, where a slot is free for it. */
  placeNew(session: Session): Session;
  /** The demand of this pool has changed. */
  changed(pool: string): void;
}

export function openSubmit(deps: SessionsDeps, parts: SubmitParts): Sessions['submit'] {
  const { limits, labels, delivery, placeNew, changed } = parts;
  const { store, clock, random } = deps;
  const inFlight = new Map<string, Promise<unknown>>();
  const firstMs = latestAcceptance(store) + 1;
  // Ids are the order of the queue: sessions that wait already stay in front, even if the clock was set back.
  const nextId = idMaker(() => Math.max(clock.now(), firstMs), random);

  async function accept(requests: readonly SessionRequest[], actor: Actor, keyed?: Keyed): Promise<readonly Session[]> {
    if (!requests.some(({ files }) => files)) return take(requests, actor, { keyed });
    const held = await holdFiles(deps.files, requests);
    try {
      // Its rows are in memory when it waits: from then on they keep the files.
      return await take(requests, actor, { keyed, held });
    } finally {
      releaseFiles(held);
    }
  }

  async function take(
    requests: readonly SessionRequest[],
    actor: Actor,
    { keyed, held }: { readonly keyed?: Keyed | undefined; readonly held?: HeldManifests },
  ): Promise<readonly Session[]> {
    const owners = chooseOwners(store, requests, limits);
    checkNames(store, requests, actor);
    const acceptedAt = clock.now();
    const sessions = requests.map((request, n): Session => {
      const { name, part } = request;
      const owner = owners[n] as SessionOwner;
      const pool = owner.use === 'worker' ? owner.pool : undefined;
      const seesOurFiles = pool !== undefined && deps.seesOurFiles?.(pool) === true;
      const cwd = workingDirectory(request, { seesOurFiles, index: n });
      const spec = { ...withFiles(request, held), ...(cwd !== undefined && { cwd }) };
      return {
        id: nextId(),
        pool: owner.id,
        poolName: owner.name,
        ...(owner.use === 'computer' && { use: owner.use }),
        acceptedAt,
        by: actor.who,
        name,
        part,
        attempt: 0,
        key: keyed && sessionKeyOf(keyed.scope, n),
        requestHash: keyed?.hash,
        spec: withPart(spec, part),
        unmatched: pool && labels.lacking(pool, askedLabels(spec)),
      };
    });
    // A list may have several priorities: the queue brings it into their order.
    const rows = sessions.length === 1 ? sessions.map(placeNew) : sessions;
    const durable = store.commit(rows.map((row) => put('sessions', row)));
    whenDurable(deps, () => {
      for (const row of rows) delivery.start(row);
    });
    for (const id of new Set(owners.map((owner) => owner.id))) changed(id);
    await durable;
    return sessions;
  }

  async function acceptOnce(requests: readonly SessionRequest[], actor: Actor, keyed: Keyed) {
    const known = await findRepeat(store, keyed);
    if (!known) return accept(requests, actor, keyed);
    await store.durable();
    return known;
  }

  return async (requests, actor, key) => {
    checkRequests(requests, limits);
    if (key === undefined) return accept(requests, actor);
    checkKey(key);
    const keyed: Keyed = { scope: `${actor.who}\n${key}`, hash: hashOf(requests), count: requests.length };
    // The same request may be in flight already: its outcome decides.
    for (let ahead = inFlight.get(keyed.scope); ahead; ahead = inFlight.get(keyed.scope)) await ahead.catch(() => {});
    const work = acceptOnce(requests, actor, keyed);
    inFlight.set(keyed.scope, work);
    try {
      return await work;
    } finally {
      inFlight.delete(keyed.scope);
    }
  };
}

/** The command sees its place among those that were started together; these two variables are always ours. */
function withPart(spec: SessionSpec, part: SessionPart | undefined): SessionSpec {
  if (!part) return spec;
  return { ...spec, env: { ...spec.env, MUSTER_INDEX: String(part.index), MUSTER_COUNT: String(part.count) } };
}

function latestAcceptance({ view }: Store): number {
  let latestMs = 0;
  for (const session of view.sessions.all()) latestMs = Math.max(latestMs, session.acceptedAt);
  return latestMs;
}

/** The owner of each request, or a `Fault` for the first that cannot be accepted. */
function chooseOwners(
  store: Store,
  requests: readonly SessionRequest[],
  limits: SessionLimits,
): readonly SessionOwner[] {
  const asked = new Map<string, number>();
  return requests.map((request, index) => {
    const owner = ownerFor(store, request, index);
    const count = (asked.get(owner.id) ?? 0) + 1;
    asked.set(owner.id, count);
    const waiting = store.view.sessions.count('queue', owner.id);
    const what = owner.use === 'worker' ? 'pool' : 'computer';
    if (waiting + count > limits.queueLength)
      throw new Fault('throttled', `The queue of ${what} "${owner.name}" is full: ${waiting} sessions wait.`, {
        at: `[${index}].${what}`,
        remedy: `Try again when the queue is shorter; it holds at most ${limits.queueLength} sessions.`,
      });
    return owner;
  });
}

function ownerFor(store: Store, { computer, pool: name, spec }: SessionRequest, index: number): SessionOwner {
  if (computer !== undefined) return computerOf(store, computer, spec, index);
  const at = `[${index}].pool`;
  const pool = name === undefined ? defaultPool(store, at) : poolNamed(store, name, at);
  return { use: 'worker', id: pool.id, name: pool.name, pool };
}

function computerOf(store: Store, id: string, spec: SessionSpec, index: number): SessionOwner {
  const owner = keptOwner(store, id);
  if (owner?.use !== 'computer')
    throw new Fault('conflict', 'This computer is being removed, or has failed.', { at: `[${index}].computer` });
  if (Object.keys(spec.labels).length > 0)
    throw new Fault('invalid', 'A computer has no labels.', {
      at: `[${index}].labels`,
      remedy: 'Leave the labels out: there is only one machine.',
    });
  return owner;
}

const DEFAULT_POOL = 'local';
const MOST_NAMED = 10;

/** The pool of a session that names none. */
function defaultPool({ view }: Store, at: string): Pool {
  const pools = Array.from(view.pools.all()).filter(({ removal }) => !removal);
  const found = pools.length === 1 ? pools[0] : pools.find(({ name }) => name === DEFAULT_POOL);
  if (found) return found;
  if (pools.length === 0)
    throw new Fault('missing', 'There is no pool.', {
      at,
      remedy: 'Define one under `agent_pools:` in the configuration, or with `muster pool apply FILE`.',
    });
  const names = pools.map(({ name }) => name).toSorted();
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  throw new Fault('invalid', `There are ${names.length} pools: the session must name one.`, {
    at,
    remedy: `Give -p or MUSTER_POOL with one of: ${names.slice(0, MOST_NAMED).join(', ')}${more}.`,
  });
}

function poolNamed({ view }: Store, name: string, at: string): Pool {
  for (const pool of view.pools.by('name', name)) {
    if (!pool.removal) return pool;
    const remedy = 'Choose another pool.';
    throw new Fault('conflict', `Pool "${name}" is being removed and takes no new sessions.`, { at, remedy });
  }
  const meant = nearest(
    name,
    Array.from(view.pools.all(), (pool) => pool.name),
  );
  const remedy = meant === undefined ? 'List pools with `muster pool ls`.' : `Did you mean "${meant}"?`;
  throw new Fault('missing', `There is no pool "${name}".`, { at, remedy });
}
