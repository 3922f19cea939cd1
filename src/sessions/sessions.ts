import type { AgentReport, Hello } from '#core/agent-link.ts';
import type { Actor } from '#core/journal.ts';
import { startLoop } from '#core/loop.ts';
import { poolInLog } from '#core/pool-counts.ts';
import type { OutputChunk, Session, SessionPart, SessionSpec } from '#core/session.ts';
import type { Tunnel, TunnelEnd } from '#core/tunnel.ts';
import { openAgentSlots } from './agent-slots.ts';
import { openDeadlines } from './deadline.ts';
import { openDelivery } from './delivery.ts';
import { DEFAULT_LIMITS, type SessionsDeps } from './deps.ts';
import { openFinder } from './find.ts';
import { openFinishAttempt } from './finish-attempt.ts';
import { openFollower } from './follow-output.ts';
import { openInputRelay } from './input.ts';
import { openJoin } from './join.ts';
import { openKill } from './kill.ts';
import { startLostSessions } from './lost-sessions.ts';
import { openOfferedLabels } from './offered-labels.ts';
import { openOutputKeeper } from './output.ts';
import { place, placeNew, placeOrCancel } from './place-or-cancel.ts';
import { openPoolQueues } from './pool-queues.ts';
import { openReferences } from './reference.ts';
import { openReport } from './report.ts';
import { openSubmit } from './submit.ts';
import { machineTunnelOpener, tunnelOpener } from './tunnel.ts';
import { openUnknownSessions } from './unknown-sessions.ts';

/** One session that is asked for. */
export interface SessionRequest {
  /** The pool's name; by default the only pool, or `local`. */
  readonly pool?: string | undefined;
  /** In place of a pool: the id of a computer, which its caller may use. */
  readonly computer?: string | undefined;
  readonly spec: SessionSpec;
  readonly name?: string | undefined;
  readonly part?: SessionPart | undefined;
  /** The folder of a caller on the server's own machine: in pools of that machine the session starts there. */
  readonly callerFolder?: string | undefined;
  /** The manifest of its files, and the id of the token that has uploaded all of them. */
  readonly files?: { readonly manifest: string; readonly token: string } | undefined;
}

/** Which part of a session's output to read. */
export interface OutputOptions {
  readonly follow: boolean;
  /** Read on after this number of `attempt` (default: the first attempt). */
  readonly afterSeq?: number | undefined;
  readonly attempt?: number | undefined;
  /** Only the last lines of the newest attempt that has written something, and what follows. */
  readonly tailLines?: number | undefined;
}

/**
 * Accepts sessions, places them on slots, follows them to their end and keeps their output.
 * A paused pool accepts sessions, but places none. A frozen pool places on connected agents, but neither requeues nor
 * fails lost sessions. A pool that is being removed has its queued sessions cancelled.
 */
export interface Sessions {
  /** Accepts all or none; resolves when durable. The same caller with the same key gets the same sessions again. */
  submit(requests: readonly SessionRequest[], actor: Actor, key?: string): Promise<readonly Session[]>;
  /** Cancels a queued session at once. A running one gets SIGTERM, and SIGKILL after its grace; `force` skips SIGTERM. */
  kill(id: string, force: boolean, actor: Actor): Promise<Session>;
  /** Live or ended. */
  find(id: string): Promise<Session | undefined>;
  /** The session that a person means: an id or the beginning of one, a name, `name/index`, or `@last`; else a `Fault`. */
  refer(text: string, actor: Actor): Promise<Session>;
  /** Resolves with the ended session. */
  ended(id: string, signal: AbortSignal): Promise<Session>;
  /** All durable output in order, attempt by attempt; with `follow` until the session has ended. */
  output(id: string, options: OutputOptions, signal: AbortSignal): AsyncIterable<OutputChunk>;
  /** Bytes for its stdin or terminal; a `Fault` where it has none, or is not running. */
  input(id: string, data: Uint8Array, isLast: boolean): void;
  /** Bytes of input that wait for the connection of the session's agent; while there are many, the sender should wait. */
  inputWaitingBytes(id: string): number;
  resize(id: string, columns: number, rows: number): void;
  /** To a port or files of the session on its worker; a `Fault` says why there is none. */
  tunnel(session: Session, to: TunnelEnd, signal: AbortSignal): Promise<Tunnel>;
  /** To a port or files of a machine itself, outside of any session: only for the machine of a computer, after `refusesUse`. */
  machineTunnel(machine: string, to: TunnelEnd, signal: AbortSignal): Promise<Tunnel>;
  /** Reconciles what an agent runs with the sessions that are placed on it. */
  agentJoined(name: string, executions: Hello['executions']): void;
  /** Takes an agent's report about a session. */
  report(agent: string, report: AgentReport): void;
  stop(): Promise<void>;
}

/** Starts the feature, and continues all live sessions of the store. */
export function startSessions(deps: SessionsDeps): Sessions {
  const { store, clock } = deps;
  let isStopping = false;
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const agentSlots = openAgentSlots({ store, clock, changed: (agent) => queues.reseat(agent) });
  const queues = openPoolQueues({ store, seat: agentSlots.seat, changed: (pool) => loop.poke(pool) });
  const delivery = openDelivery(deps, agentSlots);
  const output = openOutputKeeper(deps, { delivery, limits });
  const finder = openFinder(store);
  const follower = openFollower(store, finder);
  const finishAttempt = openFinishAttempt(deps, {
    outputPosition: output.position,
    attemptOver,
    ended: finder.noteEnded,
    changed,
  });
  const deadlines = openDeadlines(deps, { agentSlots, delivery, finishAttempt });
  const lostSessions = startLostSessions(deps, { finishAttempt, delivery });
  const unknownSessions = openUnknownSessions(deps, { agentSlots, delivery, finder });
  const labels = openOfferedLabels(deps, changed);
  const { inputTaken, forgetInput, stopInput, ...inputRelay } = openInputRelay(deps);
  const parts = {
    inputTaken,
    labels,
    queues,
    agentSlots,
    delivery,
    output,
    finder,
    finishAttempt,
    deadlines,
    lostSessions,
    unknownSessions,
    limits,
    placeNew: (session: Session) => (isStopping ? session : placeNew(queues, session)),
    changed,
  };
  const loop = startLoop({
    ...deps,
    name: 'placing',
    logged: poolInLog(store),
    reconcile: (pool) => placeOrCancel(deps, parts, pool),
  });

  /** Places at once, so that what a report frees or a caller asks for is durable in the same batch. */
  function changed(pool: string): void {
    if (isStopping) return;
    if (place(deps, parts, pool)) loop.poke(pool);
  }

  function attemptOver({ id }: Session): void {
    delivery.forget(id);
    output.forget(id);
    deadlines.forget(id);
    forgetInput(id);
  }

  const subscriptions = [
    store.onChange('agents', (after, _before, id) => {
      if (!after) agentSlots.forget(id);
    }),
    store.onChange('freezes', (after) => {
      if (!after) pokeAll();
    }),
  ];

  function pokeAll(): void {
    for (const pool of queues.pools()) loop.poke(pool);
  }
  pokeAll();

  return {
    submit: openSubmit(deps, parts),
    kill: openKill(deps, parts),
    find: finder.find,
    refer: openReferences(store, finder),
    ended: finder.ended,
    output: follower.output,
    ...inputRelay,
    tunnel: tunnelOpener(deps),
    machineTunnel: machineTunnelOpener(deps),
    agentJoined: openJoin(deps, parts),
    report: openReport(deps, parts),
    async stop() {
      isStopping = true;
      for (const unsubscribe of subscriptions) unsubscribe();
      queues.stop();
      agentSlots.stop();
      unknownSessions.stop();
      stopInput();
      deadlines.stop();
      await Promise.all([loop.stop(), labels.stop(), lostSessions.stop()]);
      finder.stop();
      follower.stop();
    },
  };
}
