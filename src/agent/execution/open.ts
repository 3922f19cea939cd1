import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentCommand } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import { type Cgroups, NO_CGROUPS, openCgroups } from '#host/cgroup.ts';
import { bootId } from '#host/processes.ts';
import { DEFAULT_PATH, type FindProgram, findProgram } from '#host/programs.ts';
import { openReserve } from '#host/reserve.ts';
import type { DuplexCall } from '../dial.ts';
import { type Execution, LONGEST_GRACE_AT_END_MS, type OpenExecution } from '../execution.ts';
import type { SessionPlace } from '../tunnels/session-place.ts';
import { openTunnels } from '../tunnels/tunnels.ts';
import { openEndedPlaces } from './ended-places.ts';
import { homeFolder } from './environment.ts';
import { type Folder, folderName, openFolder, parseFolderName, type RunRecord } from './folder.ts';
import { lockFolder } from './lock.ts';
import { OUTPUT_LIMITS, type OutputLimits } from './output.ts';
import { openRun, type Run, type RunOptions } from './run.ts';
import type { FetchContents } from './session-contents.ts';
import { openSessionFolders } from './session-folder.ts';
import type { WrapperTools } from './wrapper.ts';

export type ExecutionOptions = Parameters<OpenExecution>[0] & {
  readonly limits?: Partial<OutputLimits>;
  readonly find?: FindProgram;
  readonly cgroups?: Cgroups;
};

const noCalls = (): DuplexCall => {
  throw new Fault('unsupported', 'This agent cannot open tunnels.');
};

const noContents: FetchContents = () => {
  throw new Fault('unsupported', 'This agent cannot fetch files.');
};

type Start = Extract<AgentCommand, { do: 'start' }>;

function findTools(find: FindProgram, path = ''): Omit<WrapperTools, 'path'> {
  const [mkfifo, cat] = ['mkfifo', 'cat'].map((name) => {
    const found = find(name, `${DEFAULT_PATH}:${path}`);
    if (found) return found;
    throw new Fault('unsupported', `The program ${name} is not installed on this machine.`, {
      remedy: 'Install it (coreutils).',
    });
  }) as [string, string];
  return { mkfifo, cat };
}

/** Opens the folder of a worker: resumes sessions of a former agent that still run or are unreported, then takes commands. */
export async function openExecution(options: ExecutionOptions): Promise<Execution> {
  const { workDir, slots, clock, log, report, find = findProgram } = options;
  const sessionsPath = join(workDir, 'sessions');
  const tools = { ...findTools(find, options.env?.PATH), path: workDir };
  const reserve = openReserve(join(workDir, 'reserve'));
  mkdirSync(sessionsPath, { recursive: true, mode: 0o700 });
  // An agent must start on a full disk too: only then can it end the session that has filled it.
  reserve.withRoom(() => lockFolder(join(workDir, 'agent.lock'), workDir));
  reserve.renew();
  const cgroups = options.cgroups ?? openCgroups(`muster-agent-${process.pid}`);
  if (cgroups === NO_CGROUPS)
    log('warn', 'no control groups: processes that leave the process group of their session outlive it');
  const runs = new Map<string, Run>();
  const { fetchContents = noContents } = options;
  const folders = openSessionFolders({ workDir, fetchContents, clock });
  const places = openEndedPlaces({ workDir, clock, remove: removeFiles });
  const tunnels = openTunnels({
    duplex: options.duplex ?? noCalls,
    placeOf,
    homeFolder: () => homeFolder(options.env ?? {}),
    find,
    log,
  });
  let isDraining = false;
  let drained: (() => void)[] = [];

  function removeFiles(name: string): void {
    folders.remove(name).catch((thrown) => {
      log('error', 'cannot remove the files of a session', { session: name, error: Fault.from(thrown).message });
    });
  }

  async function placeOf(session: string, attempt: number): Promise<SessionPlace> {
    const name = folderName(session, attempt);
    return runs.get(name)?.place() ?? places.find(name);
  }

  const running = (): Run[] => [...runs.values()].filter((run) => !run.isOver);

  function ended(): void {
    if (!isDraining || running().length > 0) return;
    for (const resolve of drained) resolve();
    drained = [];
  }

  function open(record: RunRecord, folder: Folder): Run {
    const name = folderName(record.session, record.attempt);
    const runOptions: RunOptions = {
      ...{ clock, log, report, tools, find, reserve, folders },
      ended: () => {
        tunnels.sessionEnded(record.session);
        ended();
      },
      env: options.env ?? {},
      limits: { ...OUTPUT_LIMITS, ...options.limits },
      forgotten: (how) => {
        runs.delete(name);
        if (how === 'ended') places.add(name, run.place);
        else if (record.spec.files) removeFiles(name);
        if (runs.size === 0) reserve.renew();
        ended();
      },
    };
    const run = openRun(record, folder, runOptions);
    runs.set(name, run);
    return run;
  }

  /** The attempt of that session that may still run; all commands except `start` and `ack` refer to it. */
  const latest = (session: string): Run | undefined =>
    [...runs.values()]
      .filter((run) => run.session === session)
      .reduce<Run | undefined>((best, run) => (best && best.attempt > run.attempt ? best : run), undefined);

  function whyNot({ session, attempt, spec }: Start): string | undefined {
    const other = latest(session);
    if (other && !other.isOver) return `Attempt ${other.attempt} of the session still runs on this worker.`;
    if (other && other.attempt > attempt)
      return `This worker already has the later attempt ${other.attempt} of the session.`;
    if (isDraining) return 'The worker is draining.';
    if (running().length >= slots) return `All ${slots} slots of the worker are in use.`;
    if (spec.command.length === 0 || spec.command[0] === '') return 'The session has no command.';
    return undefined;
  }

  function start(command: Start): void {
    const { session, attempt, spec } = command;
    const name = folderName(session, attempt);
    const known = runs.get(name);
    if (known) {
      known.replay();
      return;
    }
    const why = whyNot(command);
    if (why !== undefined) throw new Fault('conflict', why);
    places.makeRoom();
    cgroups.expectMove();
    const folder = openFolder(join(sessionsPath, name));
    folder.create();
    // Two agents on one machine, or an agent that crashed, may have made one of the same name.
    const cgroup = cgroups.make(`muster-${name}-${randomBytes(4).toString('hex')}`);
    const record = { session, attempt, spec, acceptedAt: clock.now(), boot: bootId(), launch: 1, cgroup };
    void open(record, folder).begin();
  }

  function refusing(command: Start): void {
    const { session, attempt } = command;
    try {
      start(command);
    } catch (thrown) {
      const why = Fault.from(thrown).message;
      log('warn', 'session refused', { session, attempt, why });
      report({ is: 'refused', session, attempt, why });
    }
  }

  function carryOut(command: AgentCommand): void {
    switch (command.do) {
      case 'start':
        return refusing(command);
      case 'kill':
        return latest(command.session)?.stop({ how: 'killed', graceMs: command.force ? 0 : command.graceMs });
      case 'input':
        return latest(command.session)?.input(command.data, command.isLast);
      case 'resize':
        return latest(command.session)?.resize(command.columns, command.rows);
      case 'ack':
        return runs.get(`${command.session}.${command.attempt}`)?.ack(command.seq, command.result);
      case 'open tunnel':
        return tunnels.open(command);
      case 'close tunnel':
        return tunnels.close(command.id);
      case 'drain':
        isDraining = true;
        return;
      case 'end at':
        // The agent itself keeps its end.
        return;
    }
  }

  function handle(command: AgentCommand): void {
    try {
      carryOut(command);
    } catch (thrown) {
      log('error', 'command failed', { command: command.do, error: Fault.from(thrown).message });
    }
  }

  function adopt(record: RunRecord, folder: Folder): void {
    try {
      reserve.withRoom(() => open(record, folder)).adopt();
    } catch (thrown) {
      // If it were not listed, the server would start it elsewhere while it may still run here.
      throw new Fault('unavailable', `Cannot resume session ${record.session}: ${Fault.from(thrown).message}.`, {
        cause: thrown,
        at: folder.path,
        remedy: 'Check the free disk space of this worker, then start the agent again.',
      });
    }
  }

  /** Without a record nothing of it can have started. */
  function clear(folder: Folder): void {
    try {
      rmSync(folder.path, { recursive: true, force: true });
    } catch (thrown) {
      log('error', 'cannot remove session folder', { path: folder.path, error: Fault.from(thrown).message });
    }
  }

  function adoptAll(): void {
    for (const name of readdirSync(sessionsPath)) {
      const folder = openFolder(join(sessionsPath, name));
      const record = parseFolderName(name) && folder.readRecord();
      if (record) adopt(record, folder);
      else clear(folder);
    }
    folders
      .removeOthers((name) => runs.has(name) || places.has(name))
      .catch((thrown) => {
        log('error', 'cannot remove the files of former sessions', { error: Fault.from(thrown).message });
      });
  }

  adoptAll();
  return {
    handle,
    executions: () => [...runs.values()].map(({ session, attempt }) => ({ session, attempt })),
    replay: () => {
      for (const run of runs.values()) run.replay();
    },
    get running() {
      return running().length;
    },
    close() {
      places.dropAll();
      folders.close();
    },
    async drain(mode) {
      isDraining = true;
      if (mode === 'kill') for (const run of running()) run.stopWithin(0, 'The worker is stopping.');
      if (mode === 'end')
        for (const run of running()) run.stopWithin(LONGEST_GRACE_AT_END_MS, 'The time of the worker is over.');
      if (running().length > 0) await new Promise<void>((resolve) => drained.push(resolve));
    },
  };
}
