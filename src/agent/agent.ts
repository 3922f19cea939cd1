import type { AgentCommand } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { formatDuration } from '#core/duration.ts';
import { FAULTS, Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Random } from '#core/random.ts';
import type { Line } from './dial.ts';
import type { OpenExecution } from './execution.ts';
import { helloOf, type Self } from './hello.ts';
import { startLease } from './lease.ts';
import type { Notice } from './notices.ts';
import { openUplink, type Uplink } from './uplink.ts';
import type { VeldaTask } from './velda-peer.ts';

export interface AgentOptions {
  readonly self: Self;
  readonly workDir: string;
  /** Where the machine's own file sets it; otherwise the server does. */
  readonly leaseMs?: number | undefined;
  /** What is shown at the door; asked for once, when the folder is ours. */
  headers(): Promise<Readonly<Record<string, string>>>;
  readonly openExecution: OpenExecution;
  /** Of the same server, in the order in which they are tried. */
  readonly addresses: readonly string[];
  openLine(address: string): Promise<Line>;
  /** Calls back when the machine is to be taken away. */
  watchNotices?(heard: (notice: Notice) => void): { stop(): void };
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** How an agent's life ended, for its process to say. */
export interface AgentEnd {
  readonly exitCode: number;
  readonly message: string;
}

export interface RunningAgent {
  /** Finishes what runs, takes nothing new and ends; called again, it ends what runs as well. */
  stop(): void;
  readonly ended: Promise<AgentEnd>;
}

// What has ended is kept on disk until acknowledged: leaving, we wait so long for that, and no longer.
const FAREWELL_MS = 10_000;

const STOPPED: AgentEnd = { exitCode: 0, message: 'Stopped on request.' };
const SENT_AWAY: AgentEnd = { exitCode: 0, message: 'The server released this worker.' };

/** Keeps one agent connected and its sessions running, until it is stopped, sent away, or cut off for too long. */
export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  const { self, clock, log } = options;
  let uplink: Uplink | undefined;
  const tasks = new Map<string, VeldaTask>();
  const execution = await options.openExecution({
    workDir: options.workDir,
    slots: self.slots,
    clock,
    log,
    // It may speak before there is anyone to speak to; then it says it again.
    report: (report) => uplink?.report(report),
  });
  const headers = await options.headers();
  let isDraining = false;
  let hasBegunToDrain = false;
  let isIdle = false;
  let isOver = false;
  let departure: AgentEnd | undefined;
  let notice: Notice | undefined;
  let lastTrouble = 'No answer.';
  let cancelFarewell: (() => void) | undefined;
  let over: (end: AgentEnd) => void = () => {};
  const ended = new Promise<AgentEnd>((resolve) => (over = resolve));
  const lease = startLease(clock, options.leaseMs, cutOff);
  uplink = openUplink({
    ...options,
    headers,
    tasks,
    obey,
    hello: () => helloOf(self, { executions: execution.executions(), tasks, isDraining, notice }),
    accepted(welcome, hello) {
      lease.connected(welcome?.leaseMs);
      if (isDraining && hello.musterHello?.draining) drain();
      else if (isDraining) uplink?.rejoin();
      execution.replay();
    },
    lost() {
      lease.lost();
      if (isDraining) drain();
    },
    failed({ details }) {
      lastTrouble = details;
      if (isDraining) drain();
    },
  });

  function obey(command: AgentCommand): void {
    if (command.do === 'drain') {
      isDraining = true;
      drain();
      if (command.stop) depart(SENT_AWAY);
      return;
    }
    execution.handle(command);
    if (command.do === 'ack') endIfDone();
  }

  /** Begins once the server knows of it or is out of reach: sessions that it sends before that are still taken. */
  function drain(): void {
    if (hasBegunToDrain) return;
    hasBegunToDrain = true;
    log('info', 'draining', { running: execution.running });
    execution.drain(false).then(() => {
      isIdle = true;
      endIfDone();
    }, drainFailed);
  }

  function drainFailed(thrown: unknown): void {
    log('error', 'draining failed', { error: Fault.from(thrown).message });
  }

  /** It takes nothing new, finishes what it can, and the server gets another machine in its place. */
  function takeNotice(given: Notice): void {
    log('warn', 'interruption notice: the cloud reclaims this machine', {
      why: given.why,
      endsAt: given.endsAt,
      running: execution.running,
    });
    notice = given;
    isDraining = true;
    if (uplink?.isIn) uplink.rejoin();
    else drain();
  }

  const notices = options.watchNotices?.(takeNotice);

  function cutOff(leaseMs: number): void {
    const exitCode = FAULTS.unavailable.exit;
    const lease = formatDuration(leaseMs);
    const message = `Lost contact with the server for longer than the lease (${lease}); stopping. Last error: ${lastTrouble} Results stay on disk.`;
    log('error', 'lost contact with the server for longer than the lease', {
      running: execution.running,
      error: lastTrouble,
    });
    depart({ exitCode, message });
  }

  function depart(end: AgentEnd): void {
    if (departure) return;
    departure = end;
    // Joining anew, with that in its first message, is how an agent tells that it takes nothing more.
    if (!isDraining && uplink?.isIn) uplink.rejoin();
    isDraining = true;
    if (!uplink?.isIn) drain();
    endIfDone();
  }

  function endIfDone(): void {
    if (!departure || !isIdle) return;
    if (execution.executions().length === 0) return end(departure);
    cancelFarewell ??= clock.alarm(FAREWELL_MS, () => departure && end(departure));
  }

  function end(how: AgentEnd): void {
    if (isOver) return;
    isOver = true;
    cancelFarewell?.();
    lease.stop();
    notices?.stop();
    void uplink?.leave().then(() => over(how));
  }

  return {
    stop() {
      if (departure) execution.drain(true).catch(drainFailed);
      else depart(STOPPED);
    },
    ended,
  };
}
