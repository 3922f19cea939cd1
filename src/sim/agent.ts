// The agent of one simulated machine: it behaves as the real one does, without processes and without a network of its own.
import type { AgentCommand, AgentReport, Hello, JoinProof } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { FAULTS, type FaultKind } from '#core/fault.ts';
import { reconnectDelayMs } from '../agent/backoff.ts';
import { startLease } from '../agent/lease.ts';
import { type AgentRun, startRun } from './agent-run.ts';
import type { Chance } from './chance.ts';

/** The boot configuration of the agent. */
export interface AgentFile {
  readonly pool: string;
  readonly slots: number;
  readonly leaseMs: number;
  /** When it ends by itself, until the server moves that; absent: never. */
  readonly endsAt?: number | undefined;
}

/** The agent's end of a connection. */
export interface Wire {
  report(report: AgentReport): void;
  close(): void;
}

/** Deliberate mistakes: what the invariants must catch. */
export interface AgentQuirks {
  readonly startsTwice?: boolean;
  readonly forgetsResults?: boolean;
  readonly forgetsOutput?: boolean;
  readonly mutesEnds?: boolean;
  readonly boastsOfSlots?: number;
}

export interface AgentOptions {
  readonly name: string;
  readonly file: AgentFile;
  readonly token: string;
  /** Its own key, which it keeps on its disk; absent: one for each name. */
  readonly key?: string;
  /** Where its connections come from. */
  readonly address?: string | undefined;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly quirks: AgentQuirks;
  dial(agent: SimAgent): void;
  refuses(): boolean;
  started(run: AgentRun, agent: SimAgent): void;
  ended(run: AgentRun, agent: SimAgent): void;
  /** It has left for good, by itself or on a command. */
  left(agent: SimAgent): void;
  /** Its time is over: where it was given an end, its machine powers itself off. */
  timeIsOver?(agent: SimAgent): void;
}

export interface SimAgent {
  readonly name: string;
  readonly pool: string;
  readonly slots: number;
  readonly runs: ReadonlyMap<string, AgentRun>;
  readonly running: number;
  readonly isOver: boolean;
  hello(): Hello;
  proof(): JoinProof;
  accepted(wire: Wire): void;
  /** Not let in. */
  refused(kind: FaultKind): void;
  /** The connection that it was in by has ended. */
  lost(wire: Wire, kind: FaultKind): void;
  hear(command: AgentCommand): void;
  /** The cloud will take its machine away: it takes nothing new, finishes what it can, and says so. */
  takeNotice(notice: NonNullable<Hello['leaving']>): void;
  /** Its machine is gone. */
  die(): void;
}

// As long as the real agent waits, when it leaves, for the word that its results are kept.
const FAREWELL_MS = 10_000;

const keyOf = (session: string, attempt: number): string => `${session}.${attempt}`;

export function startAgent(options: AgentOptions): SimAgent {
  const { name, file, clock, chance, quirks, address = '10.0.0.1' } = options;
  const runs = new Map<string, AgentRun>();
  let wire: Wire | undefined;
  let running = 0;
  let failures = 0;
  let isDraining = false;
  let isLeaving = false;
  let isOver = false;
  let leaving: Hello['leaving'];
  let cancelRetry = (): void => {};
  let cancelFarewell: (() => void) | undefined;
  let cancelEnd = (): void => {};
  const lease = startLease(clock, file.leaseMs, depart);

  function retry(kind: FaultKind): void {
    if (isOver) return;
    const afterMs = reconnectDelayMs({ code: FAULTS[kind].grpc, details: '' }, failures, chance.random);
    failures += 1;
    cancelRetry();
    cancelRetry = clock.alarm(afterMs, () => options.dial(agent));
  }

  function depart(): void {
    isDraining = true;
    isLeaving = true;
    leaveIfDone();
  }

  function leaveIfDone(): void {
    if (!isLeaving || running > 0 || isOver) return;
    if (runs.size === 0) return leave();
    cancelFarewell ??= clock.alarm(FAREWELL_MS, leave);
  }

  function endAt(atMs: number | undefined): void {
    cancelEnd();
    if (atMs !== undefined) cancelEnd = clock.alarm(Math.max(0, atMs - clock.now()), endNow);
  }

  function endNow(): void {
    leave();
    options.timeIsOver?.(agent);
  }

  function stop(): void {
    isOver = true;
    cancelEnd();
    cancelRetry();
    cancelFarewell?.();
    lease.stop();
  }

  function leave(): void {
    if (isOver) return;
    stop();
    wire?.close();
    options.left(agent);
  }

  function whyNot(session: string): string | undefined {
    for (const run of runs.values()) if (run.session === session && !run.isOver) return 'It still runs here.';
    if (isDraining) return 'The worker is draining.';
    if (running >= file.slots + (quirks.boastsOfSlots ?? 0)) return 'All slots are taken.';
    return options.refuses() ? 'The disk is full.' : undefined;
  }

  function start(command: Extract<AgentCommand, { do: 'start' }>): void {
    const { session, attempt } = command;
    const known = runs.get(keyOf(session, attempt));
    if (known && !quirks.startsTwice) return known.replay();
    const why = whyNot(session);
    if (why !== undefined) return wire?.report({ is: 'refused', session, attempt, why });
    for (let copies = quirks.startsTwice ? 2 : 1; copies > 0; copies--) begin(command);
  }

  function begin(command: Extract<AgentCommand, { do: 'start' }>): void {
    running += 1;
    const run = startRun(command, {
      clock,
      report(report) {
        if (!(quirks.mutesEnds && report.is === 'ended')) wire?.report(report);
      },
      ended(over) {
        running -= 1;
        options.ended(over, agent);
        if (quirks.forgetsResults && !wire) runs.delete(keyOf(over.session, over.attempt));
        leaveIfDone();
      },
      forgotten(over) {
        runs.delete(keyOf(over.session, over.attempt));
        leaveIfDone();
      },
    });
    runs.set(keyOf(run.session, run.attempt), run);
    options.started(run, agent);
  }

  /** Of several attempts here the newest is meant. */
  function kill({ session, force, graceMs }: Extract<AgentCommand, { do: 'kill' }>): void {
    let newest: AgentRun | undefined;
    for (const run of runs.values()) {
      if (run.session === session && (!newest || run.attempt > newest.attempt)) newest = run;
    }
    newest?.stop('killed', force ? 0 : chance.ms(0, graceMs));
  }

  const agent: SimAgent = {
    name,
    pool: file.pool,
    slots: file.slots,
    runs,
    get running() {
      return running;
    },
    get isOver() {
      return isOver;
    },
    hello: () => ({
      name,
      pool: file.pool,
      slots: leaving ? 0 : file.slots + (quirks.boastsOfSlots ?? 0),
      labels: {},
      wire: 'muster',
      version: 'sim',
      hostname: name,
      address,
      executions: [...runs.values()].map(({ session, attempt }) => ({ session, attempt })),
      leaving,
      ...(file.endsAt !== undefined && { movesEnd: true }),
    }),
    proof: () => ({ peerAddress: address, token: options.token, key: options.key ?? `key of ${name}` }),
    accepted(accepted) {
      wire = accepted;
      failures = 0;
      lease.connected();
      if (quirks.forgetsOutput) for (const run of runs.values()) run.ack(run.lastSeq, false);
      for (const run of runs.values()) run.replay();
    },
    refused: retry,
    lost(lostWire, kind) {
      if (wire !== lostWire) return;
      wire = undefined;
      lease.lost();
      retry(kind);
    },
    hear(command) {
      if (isOver) return;
      switch (command.do) {
        case 'start':
          return start(command);
        case 'kill':
          return kill(command);
        case 'ack':
          return runs.get(keyOf(command.session, command.attempt))?.ack(command.seq, command.result);
        case 'drain':
          isDraining = true;
          return command.stop ? depart() : undefined;
        case 'end at':
          return endAt(command.at);
        default:
          return undefined;
      }
    },
    takeNotice(notice) {
      if (isOver) return;
      leaving = notice;
      isDraining = true;
      // Joining anew, with that in its first message, is how an agent tells of it.
      if (wire) options.dial(agent);
    },
    die() {
      stop();
      for (const run of runs.values()) run.vanish();
      running = 0;
    },
  };
  endAt(file.endsAt);
  options.dial(agent);
  return agent;
}
