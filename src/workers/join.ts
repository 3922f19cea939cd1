import type { Hello, JoinProof } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import { readMark } from '#core/mark.ts';
import type { Pool } from '#core/pool.ts';
import { type Change, put, type Store } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import {
  checkAgentKey,
  checkFirstJoin,
  checkStays,
  credentialOf,
  type JoiningAgent,
  joinedRow,
  notMadeFor,
  refuseAgent,
} from '#machines/agents.ts';
import { keepOffer } from '#machines/offers.ts';
import { isOlderThanBackup, mayShowMore } from '#machines/restored.ts';
import { isAnyCalling } from '#machines/unknown.ts';
import type { WorkersContext, WorkersDeps } from './context.ts';
import { openKeptOut, releasedEvent } from './kept-out.ts';
import { forgiveFailures } from './launch-failures.ts';
import { forgetRefusal, observeRefusal } from './machine-troubles.ts';
import { observeCalling, observeConnected, observeJoined } from './observation.ts';

type Admit = WorkersDeps['admit'];

/** Admits agents, each under the name under which its machine was launched; resolves with that when it is durable. */
export function openJoining(
  context: WorkersContext,
  { admit, poke }: { admit: Admit; poke(pool: string): void },
): (joining: JoiningAgent) => Promise<string> {
  const { store, owned } = context;
  const keptOut = openKeptOut(context);

  return async (joining) => {
    try {
      return await join(joining);
    } catch (thrown) {
      // One that is named like no worker may be anybody: the log of the broker has it.
      const worker = workerNamed(store, joining.hello.name);
      if (worker && observeRefusal(context, worker, Fault.from(thrown))) poke(worker.pool);
      throw thrown;
    }
  };

  async function join({ hello, proof }: JoiningAgent): Promise<string> {
    const pool = [...store.view.pools.by('name', hello.pool)][0];
    if (!pool) throw new Fault('missing', `There is no pool "${hello.pool}".`);
    const before = workerNamed(store, hello.name);
    const known = before && keptOut.called(before, hello);
    if (known) checkName(context, pool, known, hello);
    const credential = credentialOf(proof);
    const worker = verifyJoin(context, admit, { pool, known, hello, proof, credential });
    const bound = pool.spec.agentAuth === 'machine' ? credential : (worker.credential ?? credential);
    const joined: Worker = { ...joinedRow(owned, worker, bound), drain: leavingOf(context, worker, hello) };
    await recordJoining(context, joined, before);
    return joined.id;
  }
}

/** The worker of a name: its own, or the one that its cloud gave it. */
export function workerNamed({ view }: Pick<Store, 'view'>, name: string): Worker | undefined {
  return view.workers.get(name) ?? [...view.workers.by('machine', name)][0];
}

/** A worker that its cloud reclaims is drained, so that a replacement is launched; a drain with an earlier deadline stays. */
function leavingOf({ clock }: WorkersContext, { drain }: Worker, { leaving }: Hello): Worker['drain'] {
  if (!leaving || drain?.isTaken || (drain?.deadlineAt ?? Number.POSITIVE_INFINITY) <= leaving.endsAt) return drain;
  return { at: drain?.at ?? clock.now(), why: leaving.why, deadlineAt: leaving.endsAt, isTaken: true };
}

function checkName(context: WorkersContext, pool: Pool, worker: Worker, hello: Hello): void {
  if (worker.pool !== pool.id)
    throw new Fault('denied', `${worker.id} belongs to another pool than ${pool.name}.`, {
      remedy: "Correct `pool` in the agent's configuration.",
    });
  checkStays(worker);
  const hasWork = hello.executions.length > 0 || context.store.view.sessions.count('worker', worker.id) > 0;
  // A draining worker with sessions must be able to reconnect and report them; any other is not needed.
  if (worker.drain?.isKept && !hasWork)
    throw new Fault('denied', `${worker.id} is drained.`, {
      remedy: 'Start its agent again, or release it: `muster worker release`.',
    });
  if (worker.drain && !hasWork) throw refuseAgent(`${worker.id} is draining and has no sessions.`);
}

interface JoinRequest {
  readonly pool: Pool;
  readonly known: Worker | undefined;
  readonly hello: Hello;
  readonly proof: JoinProof;
  readonly credential: string | undefined;
}

/** The worker of a join request, after its credentials were verified. */
function verifyJoin(context: WorkersContext, admit: Admit, request: JoinRequest): Worker {
  const { pool, known, hello, proof, credential } = request;
  if (pool.spec.agentAuth === 'machine') checkOnlyOne(context, request);
  else if (known?.credential !== undefined) {
    checkAgentKey(known, credential);
    if (pool.spec.agentAuth === 'token') return known;
  }
  const name = known?.id ?? hello.name;
  const addresses = addressesOf(context, request);
  const returning = addresses ? undefined : returningByKey(context, request);
  if (returning) return returning;
  const { launch } = admit({ pool, name, proof, addresses });
  if (launch !== undefined) {
    if (!isMadeFor(context, launch, request)) throw notMadeFor(hello);
    checkFirstJoin(hello.name, known, credential);
  }
  if (known) return known;
  if (pool.removal) throw refuseAgent(`Pool ${pool.name} is being removed.`);
  if (pool.spec.offers.length === 0 && launch === undefined) return newcomer(context, pool, hello.name);
  return unknown(context, request, launch);
}

/** While its cloud does not answer: its address was checked when its key was bound. One without a key is waited for. */
function returningByKey(context: WorkersContext, request: JoinRequest): Worker | undefined {
  const { pool, known } = request;
  if (pool.spec.agentAuth !== 'machine' || !known) return undefined;
  if (isBound(request)) return known;
  if (known.joinedAt !== undefined && !context.clouds.listing(known.offer ?? '')) observeCalling(context, known);
  return undefined;
}

const isBound = ({ known, credential }: Pick<JoinRequest, 'known' | 'credential'>): boolean =>
  credential !== undefined && credential === known?.credential;

/**
 * Every process on the machine has its address, a session too: so the first agent keeps the name while it is connected. Once
 * it is not, another key means a restarted container that lost its files.
 */
function checkOnlyOne({ store }: WorkersContext, { known, credential }: JoinRequest): void {
  if (!known || !store.view.agents.get(known.id)) return;
  if (isBound({ known, credential })) return;
  throw new Fault('unavailable', `The agent of ${known.id} is connected already.`, {
    remedy: 'Try again when its connection has ended.',
  });
}

/** The addresses of the machine that the cloud shows under the name of the agent. */
function addressesOf({ clouds }: WorkersContext, { pool, known, hello }: JoinRequest): readonly string[] | undefined {
  if (pool.spec.agentAuth !== 'machine') return undefined;
  const offers = new Set([known?.offer, ...pool.spec.offers.map(({ id }) => id)].filter((id) => id !== undefined));
  for (const offer of offers) {
    const addresses = clouds.machine(offer, known?.machine ?? hello.name)?.addresses;
    if (addresses && addresses.length > 0) return addresses;
  }
  for (const offer of offers) clouds.refresh(offer);
  return undefined;
}

function isMadeFor(context: WorkersContext, launch: string, { pool, known }: JoinRequest): boolean {
  const owner = ownerOfLaunch(context, launch);
  if (owner === undefined) return mayBeForgotten(context, { pool, known });
  return owner === pool.id && (!known || known.launch === launch);
}

/** Also once its launch is done with: while one of its workers is left, the token is known by that. */
function ownerOfLaunch({ store }: WorkersContext, launch: string): string | undefined {
  const record = store.view.launches.get(launch);
  return record ? readMark(record.mark).owner : [...store.view.workers.by('launch', launch)][0]?.pool;
}

/** A restored backup may lack the launch of a machine: that of an adopted worker, or of one that is not adopted yet. */
function mayBeForgotten(
  { owned: { base } }: WorkersContext,
  { pool, known }: Pick<JoinRequest, 'pool' | 'known'>,
): boolean {
  if (!known) return mayShowMore(base, pool.spec.offers);
  const { launch, offer, createdAt = Number.POSITIVE_INFINITY } = known;
  return launch === undefined && offer !== undefined && isOlderThanBackup(base, { createdAt });
}

function newcomer(context: WorkersContext, pool: Pool, name: string): Worker {
  context.owned.observations.observeFirst(name);
  return { id: name, pool: pool.id, machine: name, askedAt: context.clock.now() };
}

/** An unknown name is admitted only if the cloud lists it without a mark: some kinds name machines themselves. */
function unknown(context: WorkersContext, { pool, hello }: JoinRequest, launch: string | undefined): Worker {
  const { owned, clouds, clock } = context;
  const machine = owned.unknown.of(pool.id).get(hello.name);
  if (!machine || machine.isDeleting) {
    for (const offer of pool.spec.offers) clouds.refresh(offer.id);
    if (isAnyCalling(owned, pool.id) || mayShowMore(owned.base, pool.spec.offers)) {
      throw new Fault(
        'unavailable',
        `${hello.name} is not known yet: the server is still listing the machines of its pool.`,
        {
          remedy: 'Try again in a few seconds.',
        },
      );
    }
    throw refuseAgent(`${hello.name} was not launched for pool ${pool.name}.`);
  }
  // What a launch made has our mark.
  if (launch !== undefined) throw notMadeFor(hello);
  owned.unknown.observe(pool.id, hello.name, undefined);
  owned.observations.observeFirst(hello.name, { missedFromMs: clock.monotonic() });
  return { id: hello.name, pool: pool.id, machine: hello.name, offer: machine.offer, askedAt: clock.now() };
}

/** Durable before the agent counts: after a restart it must not look like a machine that never booted. */
async function recordJoining(context: WorkersContext, joined: Worker, known: Worker | undefined): Promise<void> {
  const { store, journal } = context;
  const isNews =
    known?.joinedAt === undefined || known.credential !== joined.credential || known.drain !== joined.drain;
  if (!isNews) return store.durable();
  observeJoined(context, joined);
  const changes: Change[] = [put('workers', joined)];
  const offer = store.view.pools.get(joined.pool)?.spec.offers.find(({ id }) => id === joined.offer);
  if (offer) changes.push(...keepOffer(store, offer));
  const about = { subject: `worker/${joined.id}`, pool: joined.pool };
  if (known?.joinedAt === undefined)
    changes.push(journal.event({ ...about, kind: 'worker.joined', message: 'Agent joined.' }));
  if (known?.drain && !joined.drain) changes.push(releasedEvent(context, joined, 'its agent was started again'));
  if (joined.drain && !known?.drain)
    changes.push(journal.event({ ...about, kind: 'worker.draining', message: `Draining: ${joined.drain.why}.` }));
  await store.commit(changes);
}

/** Decisions made meanwhile have precedence. */
export function connectWorker(context: WorkersContext, worker: Worker, hello: Hello) {
  const pool = context.store.view.pools.get(worker.pool);
  if (!pool) throw new Fault('missing', `There is no pool "${hello.pool}".`);
  checkName(context, pool, worker, hello);
  forgiveFailures(context, pool.id);
  forgetRefusal(context, worker);
  const wasAway = observeConnected(context, worker);
  return { labels: { ...pool.spec.labels, ...hello.labels }, changes: wasAway ? [returned(context, worker)] : [] };
}

function returned({ journal }: WorkersContext, { id, pool }: Worker): Change {
  return journal.event({ kind: 'worker.returned', subject: `worker/${id}`, pool, message: 'Agent reconnected.' });
}
