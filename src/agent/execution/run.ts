// One attempt of a session on this machine. All it knows is read from its folder: the same code follows a command that
// we started ourselves and one that a former agent started.
import type { AgentReport } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { formatDuration } from '#core/duration.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { type Account, findAccount } from '#host/account.ts';
import { inCgroup, removeCgroup } from '#host/cgroup.ts';
import { bootId, isAlive, sendSignal } from '#host/processes.ts';
import type { Reserve } from '#host/reserve.ts';
import type { SessionPlace } from '../tunnels/session-place.ts';
import { endOf, type Remains, type RunEnd } from './ending.ts';
import { sessionEnvironment } from './environment.ts';
import { type Folder, folderName, type RunProcesses, type RunRecord, type RunTerminal } from './folder.ts';
import { gathered, watchFolder } from './follow.ts';
import { openInput } from './input.ts';
import { endWithoutProgram, type LaunchOptions, launchCommand } from './launch.ts';
import { type OutputLimits, openOutput } from './output.ts';
import type { SessionFolders } from './session-folder.ts';
import { endAll, processesOf } from './signals.ts';
import { openStopping, type StopRequest } from './stopping.ts';
import { resizeTerminal } from './terminal.ts';

export interface RunOptions extends LaunchOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly report: (report: AgentReport) => void;
  readonly limits: OutputLimits;
  readonly reserve: Pick<Reserve, 'withRoom'>;
  readonly folders: SessionFolders;
  /** All its processes have ended. */
  readonly ended: () => void;
  /** Its record is deleted. The folder of its files stays where it has ended, and goes where it was refused. */
  readonly forgotten: (how: 'ended' | 'refused') => void;
}

export interface Run {
  readonly session: string;
  readonly attempt: number;
  readonly isOver: boolean;
  /** Makes the record durable, then starts the command. */
  begin(): Promise<void>;
  /** Resumes a run of a former agent. */
  adopt(): void;
  /** Sends SIGTERM, and SIGKILL after the grace period. */
  stop(request: StopRequest): void;
  /** The worker ends: the same with the session's own grace, at most so long. */
  stopWithin(longestGraceMs: number, message: string): void;
  input(data: Uint8Array, isLast: boolean): void;
  resize(columns: number, rows: number): void;
  /** The server has all output up to this number, and with `result` the end too: the run is then deleted. */
  ack(seq: number, result: boolean): void;
  /** Repeats all unacknowledged reports. */
  replay(): void;
  /** Where it runs; also after it was forgotten. */
  place(): Promise<SessionPlace>;
}

// A shell that has not written its pid by then was killed at once.
const BIRTH_MS = 5_000;
const SWEEPS = 50;
const SWEEP_EVERY_MS = 20;
const TELL_EVERY_BYTES = 64 * 1024;
// Between the exit code and the end of the shell that wrote it.
const LAST_BREATH_MS = 20;

export function openRun(firstRecord: RunRecord, folder: Folder, options: RunOptions): Run {
  const { clock, log, report } = options;
  const { session, attempt, spec } = firstRecord;
  let record = firstRecord;
  let processes: RunProcesses | undefined;
  let terminal: RunTerminal | undefined;
  let size: { readonly columns: number; readonly rows: number } | undefined;
  let wrapper: Remains['wrapper'];
  let end: RunEnd | undefined;
  let bornByMs = Number.POSITIVE_INFINITY;
  let isAdopted = false;
  let isStartTold = false;
  let isEndTold = false;
  let isForgotten = false;
  let unfollow = (): void => {};
  const stopped = new AbortController();
  let cancelTimeout: (() => void) | undefined;
  const output = openOutput(folder, (piece) => report({ is: 'output', session, attempt, ...piece }), options);
  const input = openInput(() => folder.pipesPath(record.launch), tellTaken);
  let toldTakenBytes = 0;
  const { cgroup } = firstRecord;
  const stopping = openStopping(folder, () => ({ processes, terminal, cgroup }), options);
  const poke = gathered(clock, look, (thrown) =>
    log('error', 'cannot follow session', { session, error: Fault.from(thrown).message }),
  );

  function look(): void {
    if (isForgotten) return;
    meetProcesses();
    if (!end && hasGone()) conclude();
    if (isForgotten) return;
    tellStart();
    // A quick command may have written before its processes can be read: its start is reported first all the same.
    if (isStartTold || end) tellRest();
  }

  function tellStart(): void {
    if (!processes || isStartTold) return;
    isStartTold = true;
    report({ is: 'started', session, attempt });
    if (spec.stdin || spec.terminal) report({ is: 'input taken', session, attempt, bytes: input.takenBytes });
    toldTakenBytes = input.takenBytes;
  }

  // The server keeps a window of input on its way: it need not hear of each byte.
  function tellTaken(): void {
    if (end || !isStartTold || input.takenBytes - toldTakenBytes < TELL_EVERY_BYTES) return;
    toldTakenBytes = input.takenBytes;
    report({ is: 'input taken', session, attempt, bytes: toldTakenBytes });
  }

  function tellRest(): void {
    // While it runs, it would take any room that we make.
    const isAllSent = end ? options.reserve.withRoom(() => output.pump()) : output.pump();
    if (!end || !isAllSent || isEndTold) return;
    isEndTold = true;
    report({ is: 'ended', session, attempt, lastSeq: output.lastSeq, ...end });
  }

  function meetProcesses(): void {
    processes ??= folder.readProcesses(record);
    if (!processes || end) return;
    input.open();
    armTimeout();
    if (spec.terminal && !terminal) {
      terminal = folder.readTerminal(record);
      applySize();
    }
    if (terminal || !spec.terminal) stopping.reached();
    if (folder.readExitCode() === undefined) return;
    stopping.endLeftovers();
    // Node reports no exit event for a process that is not our child.
    if (isAdopted) clock.alarm(LAST_BREATH_MS, poke);
  }

  function hasGone(): boolean {
    // For our own child, an event reports a moment later how it ended.
    if (!isAdopted) return wrapper !== undefined;
    return processes ? !isAlive(processes.leader) : clock.monotonic() >= bornByMs;
  }

  function conclude(): void {
    if (wrapper && !processes && !stopping.stop) {
      refuse('The worker could not start the session; its disk may be full.');
      return;
    }
    endAll({ processes, terminal, cgroup });
    sweep();
    const remains = {
      exitCode: folder.readExitCode(),
      wasDiskFull: folder.wasDiskFull(),
      stop: stopping.stop,
      wrapper,
    };
    finish(endOf(remains));
  }

  /** Whatever was forked while it was being killed goes now; the group is removed when it is empty. */
  function sweep(round = 1): void {
    if (cgroup === undefined || removeCgroup(cgroup) || round > SWEEPS) return;
    for (const pid of inCgroup(cgroup)) sendSignal(pid, 'SIGKILL');
    clock.alarm(SWEEP_EVERY_MS, () => sweep(round + 1));
  }

  function finish(how: RunEnd): void {
    options.reserve.withRoom(() => folder.writeEnd(how));
    end = how;
    rest();
    options.ended();
  }

  function rest(): void {
    stopping.cancel();
    cancelTimeout?.();
    unfollow();
    input.close();
  }

  function armTimeout(): void {
    if (cancelTimeout || spec.timeoutMs === undefined) return;
    const leftMs = record.acceptedAt + spec.timeoutMs - clock.now();
    const message = `The session ran longer than ${formatDuration(spec.timeoutMs)}.`;
    cancelTimeout = clock.alarm(leftMs, () => requestStop({ how: 'timeout', graceMs: spec.graceMs, message }));
  }

  function applySize(): void {
    if (terminal && size && !end) resizeTerminal(terminal.device, size);
  }

  function requestStop(request: StopRequest): void {
    if (end || folder.readExitCode() !== undefined) return;
    stopping.request(request);
    stopped.abort();
  }

  function refuse(why: string, forGood?: 'here' | 'anywhere'): void {
    rest();
    forget();
    report({ is: 'refused', session, attempt, why, ...(forGood && { forGood }) });
  }

  function forget(): void {
    isForgotten = true;
    output.close();
    try {
      folder.remove();
    } catch (thrown) {
      log('error', 'cannot remove session folder', { session, error: Fault.from(thrown).message });
    }
    options.forgotten(end ? 'ended' : 'refused');
  }

  function launch(how: LaunchOptions): void {
    const child = launchCommand(folder, record, how);
    child.unref();
    child.once('error', (thrown) => refuse(`The worker could not start the session: ${thrown.message}.`));
    child.once('exit', (code, signal) => {
      wrapper = { code, signal };
      poke();
    });
    unfollow = watchFolder(folder.path, clock, poke);
  }

  function makeFolder(account: Account | undefined): Promise<string> {
    return options.folders.make(record, folderName(session, attempt), { account, signal: stopped.signal });
  }

  async function begin(): Promise<void> {
    try {
      const [account] = await Promise.all([spec.runAs && findAccount(spec.runAs), folder.writeRecord(record)]);
      const filesFolder = spec.files && (await makeFolder(account));
      const how = { ...options, account, filesFolder };
      // Stopped before it started: it never starts.
      const never = stopping.stop ? endOf({ stop: stopping.stop }) : endWithoutProgram(record, how);
      if (never) finish(never);
      else launch(how);
      poke();
    } catch (thrown) {
      if (!(thrown instanceof Fault))
        return refuse(`The worker cannot start the session: ${Fault.from(thrown).message}.`);
      refuse(`${thrown.message} ${thrown.remedy}`, thrown.kind === 'invalid' ? 'anywhere' : 'here');
    }
  }

  async function place(): Promise<SessionPlace> {
    const account = spec.runAs && (await findAccount(spec.runAs));
    const filesFolder = spec.files && options.folders.pathOf(folderName(session, attempt));
    const { cwd } = sessionEnvironment(session, spec, { ...options, account, filesFolder });
    const pids = (): readonly number[] => (end ? [] : processesOf({ processes, terminal, cgroup }));
    return { session, cwd, account, pids };
  }

  function adopt(): void {
    poke();
    end = folder.readEnd<RunEnd>();
    if (end) return;
    stopping.resume();
    const isSameBoot = record.boot === bootId();
    // After a power loss a missing pid file proves nothing: the file may be lost too.
    if (isSameBoot && folder.isVoided(record.launch)) {
      record = { ...record, launch: record.launch + 1 };
      void begin();
      return;
    }
    bornByMs = clock.monotonic() + (isSameBoot ? BIRTH_MS : 0);
    isAdopted = true;
    processes = folder.readProcesses(record);
    terminal = folder.readTerminal(record);
    unfollow = watchFolder(folder.path, clock, poke);
  }

  return {
    session,
    attempt,
    get isOver() {
      return end !== undefined;
    },
    begin,
    adopt,
    place,
    stop: requestStop,
    stopWithin: (longestGraceMs, message) =>
      requestStop({ how: 'killed', graceMs: Math.min(spec.graceMs, longestGraceMs), message }),
    input(data, isLast) {
      if (end || !(spec.stdin || spec.terminal) || input.write(data, isLast)) return;
      requestStop({ how: 'killed', graceMs: 0, message: 'Input arrived faster than the session read it.' });
    },
    resize(columns, rows) {
      size = { columns, rows };
      applySize();
    },
    ack(seq, result) {
      if (isForgotten) return;
      if (result && end) return forget();
      // First: on a full disk the other fails, and after the end there are no more polls.
      poke();
      output.ack(seq);
    },
    replay() {
      isStartTold = false;
      isEndTold = false;
      output.replay();
      poke();
    },
  };
}
