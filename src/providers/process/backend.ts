import { mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { agentFile } from '#boot/agent-file.ts';
import { Fault } from '#core/fault.ts';
import { shortId } from '#core/id.ts';
import type { Backend, Context, Launch, Machine, Outcome } from '#core/provider.ts';
import type { Account } from '#host/account.ts';
import { writeDurably } from '#host/durable-file.ts';
import { bootId } from '#host/processes.ts';
import { type ProcessConfig, SHARED_FOLDER } from './config.ts';
import { endMachine } from './end-machine.ts';
import { livingAgent, livingAll } from './living.ts';
import { type MachineFolder, type MachineRecord, machineNames, openMachineFolder } from './machine-folder.ts';
import { accountOf, openHome, removeHome } from './other-user.ts';
import { startAgent } from './start-agent.ts';

// Between the record of a machine and the first sign of its agent.
const BIRTH_MS = 10_000;
const KEEP_DEAD_MS = 3_600_000;
const KEEP_DELETED_MS = 86_400_000;

function whileWanted(signal: AbortSignal): void {
  if (signal.aborted) throw new Fault('unavailable', 'The call was cancelled.');
}

/** What the file system refuses is the operator's to fix, and is no bug. */
const failed =
  (name: string) =>
  (thrown: unknown): Outcome => ({
    name,
    fault: thrown instanceof Fault ? thrown : new Fault('unavailable', Fault.from(thrown).message, { cause: thrown }),
  });

/** What there is of a machine, or nothing where nothing of it lives. */
function machineOf(folder: MachineFolder, record: MachineRecord, now: number): Machine | undefined {
  const { name, mark, createdAt } = record;
  if (livingAgent(folder, record)) return { name, mark, createdAt, state: 'running' };
  if (!folder.hasBegun()) return now - createdAt < BIRTH_MS ? { name, mark, createdAt, state: 'creating' } : undefined;
  const left = livingAll(folder, record).length;
  if (left === 0) return undefined;
  const message = `Its agent has ended while ${left} of its processes still run`;
  return { name, mark, createdAt, state: 'failed', trouble: { kind: 'unavailable', message, final: true } };
}

interface NewPlace {
  readonly path: string;
  readonly account: Account | undefined;
}

export async function openProcessBackend(config: ProcessConfig, context: Context): Promise<Backend> {
  const { clock, log, random, cluster } = context;
  const machinesPath = join(context.dataDir, 'machines');
  mkdirSync(machinesPath, { recursive: true, mode: 0o700 });

  function newRecord(launch: Launch, name: string, { path, account }: NewPlace): MachineRecord {
    const shared = config.workDir ?? (account ? SHARED_FOLDER : undefined);
    const workDir = shared === undefined ? join(path, 'work') : join(shared, name);
    const { mark } = launch;
    return {
      name,
      mark,
      launch: launch.id,
      nonce: shortId(random, 20),
      boot: bootId(),
      createdAt: clock.now(),
      workDir,
      ...(account && { account }),
    };
  }

  async function create(launch: Launch, name: string): Promise<Outcome> {
    const folder = openMachineFolder(machinesPath, name);
    refuseDeleted(folder, name);
    const account = await accountOf(config);
    const record = await folder.claim(newRecord(launch, name, { path: folder.path, account }));
    refuseForeign(name, record.mark.cluster);
    if (!folder.hasBegun()) {
      const text = agentFile(launch.boot, { name, slots: config.slots, workDir: record.workDir });
      if (record.account) await openHome(record.account, record.workDir, { text, nonce: shortId(random, 20) });
      else await writeDurably(folder.configPath, text, `${folder.configPath}.${shortId(random, 20)}`);
      await startAgent(folder, record, { config, context });
      log('info', 'agent started', { machine: name, pid: folder.agent(record)?.pid });
    }
    // A deletion may have come in between, and has then kept it from beginning.
    refuseDeleted(folder, name);
    if (livingAgent(folder, record) || livingAll(folder, record).length > 0) return { name };
    throw new Fault('unavailable', `The agent of ${name} exited at once; see ${folder.logPath}.`);
  }

  function refuseDeleted(folder: MachineFolder, name: string): void {
    if (folder.deletedAtMs() !== undefined)
      throw new Fault('conflict', `${name} was deleted; its name is not used again.`);
  }

  function refuseForeign(name: string, owner: string | undefined): void {
    if (owner !== cluster) throw new Fault('denied', `${name} is not a machine of this cluster.`);
  }

  async function remove({ name, mark }: Machine, signal: AbortSignal): Promise<Outcome> {
    refuseForeign(name, mark?.cluster);
    const folder = openMachineFolder(machinesPath, name);
    refuseForeign(name, folder.record()?.mark.cluster ?? cluster);
    await folder.markDeleted(shortId(random, 20));
    await folder.forbidStart(clock);
    // Read only now: what is started meanwhile has its record, and nothing more is started.
    const record = folder.record();
    if (record) await endMachine(folder, record, { clock, signal });
    await retire(folder, record);
    return { name };
  }

  /** Nothing of it lives: frees its room on the disk. */
  async function retire(folder: MachineFolder, record: MachineRecord | undefined): Promise<void> {
    const { account, workDir = '' } = record ?? {};
    // Only a folder that bears the machine's own name was made for it.
    const isItsOwn = basename(workDir) === record?.name;
    if (account && isItsOwn && !(await removeHome(account, workDir)))
      log('warn', 'files of a deleted agent remain', { machine: record?.name, path: workDir });
    folder.empty();
    if (!account && isItsOwn) rmSync(workDir, { recursive: true, force: true });
  }

  /** Forgets what has been dead for long; the name of a deleted one is kept for a while, against late requests. */
  async function tidy(folder: MachineFolder, record: MachineRecord | undefined): Promise<void> {
    const deletedAtMs = folder.deletedAtMs();
    const now = clock.now();
    if (deletedAtMs !== undefined && now - deletedAtMs > KEEP_DELETED_MS)
      rmSync(folder.path, { recursive: true, force: true });
    if (deletedAtMs !== undefined || !record || now - record.createdAt < KEEP_DEAD_MS) return;
    await folder.markDeleted(shortId(random, 20));
    await folder.forbidStart(clock);
    if (livingAll(folder, record).length === 0) await retire(folder, record);
  }

  return {
    cloud: 'process',
    async list(signal) {
      whileWanted(signal);
      const machines: Machine[] = [];
      for (const name of machineNames(machinesPath)) {
        const folder = openMachineFolder(machinesPath, name);
        const record = folder.record();
        const machine = record && machineOf(folder, record, clock.now());
        if (!machine) await tidy(folder, record);
        else if (machine.mark?.cluster === cluster) machines.push(machine);
      }
      return machines;
    },
    async create(launch, signal) {
      const outcomes: Outcome[] = [];
      refuseForeign(launch.names.join(', '), launch.mark.cluster);
      for (const name of launch.names) {
        whileWanted(signal);
        outcomes.push(await create(launch, name).catch(failed(name)));
      }
      return outcomes;
    },
    async delete(machines, signal) {
      whileWanted(signal);
      const removals = machines.map((machine) => remove(machine, signal).catch(failed(machine.name)));
      return Promise.all(removals);
    },
  };
}
