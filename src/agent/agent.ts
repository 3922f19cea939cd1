import type { AgentCommand } from '#core/agent-link.ts';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import { formatDuration } from '#core/duration.ts';
import { FAULTS, Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Random } from '#core/random.ts';
import type { Line, LineOptions } from './dial.ts';
import type { EndTime } from './end-time.ts';
import { LONGEST_GRACE_AT_END_MS, type OpenExecution } from './execution.ts';
import { fetchContents } from './fetch-contents.ts';
import { helloOf, type Self } from './hello.ts';
import { startLease } from './lease.ts';
import type { Notice } from './notices.ts';
import { openUplink, type Uplink } from './uplink.ts';
import type { VeldaTask } from './velda-peer.ts';

export interface AgentOptions {
  readonly self: Self;
  readonly workDir: string;
  /** Set if the machine's own file sets it; otherwise the server decides. */
  readonly leaseMs?: number | undefined;
  /** Credentials for joining; read once, after the lock of the folder is held. */
  headers(): Promise<Readonly<Record<string, string>>>;
  readonly openExecution: OpenExecution;
  /** Addresses of the same server, in the order in which they are tried. */
  readonly addresses: readonly string[];
  openLine(address: string, options: LineOptions): Promise<Line>;
  /** Calls back when the cloud announces that it reclaims the machine. */
  watchNotices?(heard: (notice: Notice) => void): { stop(): void };
  readonly endTime: EndTime;
  /** Of its process, when that time has come. */
  readonly endCode: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** How the agent ended, for its process to print. */
export interface AgentEnd {
  readonly exitCode: number;
  readonly message: string;
}

export interface RunningAgent {
  /** Drains: finishes running sessions, takes no new ones, and ends. A second call ends running sessions too. */
  stop(): void;
  readonly ended: Promise<AgentEnd>;
}

// Results stay on disk until the server acknowledges them. On exit the agent waits this long for that.
const LAST_REPORT_MS = 10_000;
// No process that the system cannot end keeps the agent beyond its own.
const END_WITHIN_MS = LONGEST_GRACE_AT_END_MS + 30 * SECOND_MS;

export const STOPPED: AgentEnd = { exitCode: 0, message: 'Stopped on request.' };
export const timeIsOver = (exitCode: number): AgentEnd => ({ exitCode, message: 'The time of this agent is over.' });
const SENT_AWAY: AgentEnd = { exitCode: 0, message: 'The server released this worker.' };

/** Keeps one agent connected and its sessions running until it is stopped, released by the server, disconnected for longer than the lease, or until its time is over. */
export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  const { self, clock, log, endTime } = options;
  let uplink: Uplink | undefined;
  const tasks = new Map<string, VeldaTask>();
  const execution = await options.openExecution({
    workDir: options.workDir,
    slots: self.slots,
    clock,
    log,
    // It may report before there is a connection; then it reports again later.
    report: (report) => uplink?.report(report),
    fetchContents: fetchContents((path, request) => connected().fetch(path, request)),
    duplex: (path, headers) => connected().duplex(path, headers),
  });
  function connected(): Uplink {
    if (uplink) return uplink;
    throw new Fault('unavailable', 'The agent is not connected to the server.');
  }

  if (endTime.isOver) {
    // Before anything is awaited: a session that a former agent was about to start must not start now.
    endSessions();
    if (execution.executions().length === 0)
      return { stop() {}, ended: endTime.close().then(() => timeIsOver(options.endCode)) };
  }

  const headers = { ...(await options.headers()), 'x-muster-agent': encodeURIComponent(self.name) };
  let isDraining = false;
  let hasBegunToDrain = false;
  let isIdle = false;
  let isOver = false;
  let departure: AgentEnd | undefined;
  let notice: Notice | undefined;
  let lastTrouble = 'No answer.';
  let cancelLastReport: (() => void) | undefined;
  let cancelLastEnd = (): void => {};
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
    if (command.do === 'end at') return endTime.move(command.at);
    execution.handle(command);
    if (command.do === 'ack') endIfDone();
  }

  /** Begins when the server knows of the drain or cannot be reached. Sessions that the server sent before are still accepted. */
  function drain(): void {
    if (hasBegunToDrain) return;
    hasBegunToDrain = true;
    log('info', 'draining', { running: execution.running });
    execution.drain('finish').then(() => {
      isIdle = true;
      endIfDone();
    }, drainFailed);
  }

  function endSessions(): void {
    execution.drain('end').catch(drainFailed);
  }

  function drainFailed(thrown: unknown): void {
    log('error', 'draining failed', { error: Fault.from(thrown).message });
  }

  /** The agent takes no new sessions and finishes what it can; the server launches a replacement. */
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
  endTime.watch(endAtLast);

  /** The machine ends with the agent, so nothing waits for the server, nor for a drain that has begun. */
  function endAtLast(endsAt: number): void {
    log('warn', 'the time of this agent is over', { endsAt, running: execution.running });
    notice ??= { why: 'its time is over', endsAt };
    endSessions();
    cancelLastEnd = clock.alarm(END_WITHIN_MS, () => end(timeIsOver(options.endCode)));
    const wasLeaving = departure !== undefined;
    departure = timeIsOver(options.endCode);
    if (!wasLeaving) leave();
    endIfDone();
  }

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
    leave();
    endIfDone();
  }

  /** An agent announces a drain by reconnecting: its first message says so. */
  function leave(): void {
    if (!isDraining && uplink?.isIn) uplink.rejoin();
    isDraining = true;
    if (!uplink?.isIn) drain();
  }

  function endIfDone(): void {
    if (!departure || !isIdle) return;
    if (execution.executions().length === 0) return end(departure);
    cancelLastReport ??= clock.alarm(LAST_REPORT_MS, () => departure && end(departure));
  }

  function end(how: AgentEnd): void {
    if (isOver) return;
    isOver = true;
    cancelLastReport?.();
    cancelLastEnd();
    lease.stop();
    notices?.stop();
    execution.close();
    void Promise.all([uplink?.leave(), endTime.close()]).then(() => over(how));
  }

  return {
    stop() {
      if (departure) execution.drain('kill').catch(drainFailed);
      else depart(STOPPED);
    },
    ended,
  };
}
