// A cloud that exists only on a clock: machines, late lists, lost replies and calls that hang, as a script tells it.
import { z } from 'zod';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import {
  type AnyKind,
  type Backend,
  kind,
  type Launch,
  type Machine,
  type Outcome,
  type Parking,
  type PendingCreate,
  type Trouble,
} from '#core/provider.ts';

export type SimCallName = 'list' | 'create' | 'check' | 'delete' | 'suspend' | 'resume';

export interface SimCall {
  readonly name: SimCallName;
  /** Counts the calls of that name from 1 on. */
  readonly nth: number;
  readonly names: readonly string[];
  /** What a create asks for. */
  readonly launch?: Launch | undefined;
  /** What a delete was given. */
  readonly machines?: readonly Machine[] | undefined;
}

/** What goes wrong with a call. */
export type SimEffect =
  /** Nothing is done, and the caller hears why. */
  | { readonly is: 'refused'; readonly fault: Fault }
  /** All is done, and the caller hears nothing of it. */
  | { readonly is: 'lost reply' }
  /** No answer ever, until the caller gives up; what is done may be done late. */
  | { readonly is: 'hang'; readonly isDone: boolean; readonly afterMs?: number }
  | { readonly is: 'slow'; readonly ms: number }
  /** For create and delete, name by name: a fault (not done), `silent` (done, not answered), `skipped` (neither), `forgotten` (answered, not done). */
  | { readonly is: 'partial'; of(name: string): Fault | 'silent' | 'skipped' | 'forgotten' | undefined }
  /** For list: another answer than the truth. */
  | { readonly is: 'answer'; of(machines: readonly Machine[]): readonly Machine[] };

export interface SimMachine {
  readonly machine: Machine;
  readonly launch: Launch | undefined;
  /** The name that we asked for. */
  readonly name: string;
  /** Its caller was dead by the time it was created. */
  readonly isLate?: boolean;
}

export interface SimCloudOptions {
  readonly clock: Clock;
  readonly cloud?: string;
  readonly bootMs?: number | ((name: string) => number);
  readonly answerMs?: number;
  /** How late the list shows what was made or deleted. */
  readonly listLagMs?: number;
  /** For how long a deleted machine is still listed as such. */
  readonly deletingMs?: number;
  /** For how long a machine goes on after the cloud agreed to delete it, with all that runs there. */
  readonly dyingMs?: number;
  /** False: `calls` is not read, and there may be millions. */
  readonly keepsCalls?: boolean;
  /** False: as scripts do, it cannot mark what it makes. */
  readonly canMark?: boolean;
  /** Idle machines can be kept: how many, and until which age. */
  readonly park?: Pick<Parking, 'most' | 'maxAgeMs'>;
  /** What offers come to at this time. */
  readonly form?: () => string;
  /** The cloud insists on names of its own. */
  readonly nameOf?: (name: string) => string;
  /** What a machine costs at this time, in dollars an hour; absent: it does not tell. */
  readonly pricePerHour?: () => number;
  /** Creations are pending for this long; absent: a machine is made at once. */
  readonly pendingMs?: number;
}

/** How a machine ended; a stopped one may boot again. */
export type SimEnd = 'deleted' | 'died' | 'stopped';

/** The cloud itself: it goes on whatever becomes of those who call it. */
export interface SimCloud {
  /** Calls through it hang for ever once `isAlive` says no: their caller is dead. */
  backend(isAlive?: () => boolean): Backend;
  /** What truly exists now. */
  machines(): readonly SimMachine[];
  /** The machine of that name, where it exists now. */
  find(machine: string): Machine | undefined;
  /** How often a machine was made for each name. */
  readonly made: ReadonlyMap<string, number>;
  readonly calls: readonly SimCall[];
  /** May be set and changed at any time. */
  script: (call: SimCall) => SimEffect | undefined;
  /** With `pendingMs`: the cloud agrees to make that machine, and does not; only `check` tells. */
  failsLate: (name: string) => Fault | undefined;
  /** A machine dies by itself. */
  kill(machine: string): void;
  /** Someone else stops it, or starts it again. */
  stop(machine: string): void;
  start(machine: string): void;
  trouble(machine: string, trouble: Trouble, state?: Machine['state']): void;
  /** A machine that someone else made. */
  add(machine: Machine): void;
  /** Called when a machine is made, when it has booted, and when it is gone. */
  onMade(heard: (made: SimMachine) => void): void;
  onBoot(heard: (made: SimMachine) => void): void;
  onGone(heard: (made: SimMachine, how: SimEnd) => void): void;
}

interface Kept extends SimMachine {
  machine: Machine;
  readonly listedFromMs: number;
  /** When it stopped to exist; it is listed for a while yet. */
  goneMs?: number;
}

export function simCloud(options: SimCloudOptions): SimCloud {
  const { clock, cloud = 'sim', bootMs = 0, answerMs = 0, listLagMs = 0, deletingMs = 0, canMark = true } = options;
  const { dyingMs = 0, keepsCalls = true } = options;
  const nameOf = options.nameOf ?? ((name: string) => name);
  const kept = new Map<string, Kept>();
  const made = new Map<string, number>();
  const everMade = new Set<string>();
  const operations = new Map<string, { readonly endsMs: number; readonly fault: Fault | undefined }>();
  const calls: SimCall[] = [];
  const counts: Record<SimCallName, number> = { list: 0, create: 0, check: 0, delete: 0, suspend: 0, resume: 0 };
  const heardMade: ((made: SimMachine) => void)[] = [];
  const booted: ((made: SimMachine) => void)[] = [];
  const gone: ((made: SimMachine, how: SimEnd) => void)[] = [];

  // The last answer of `listed`, until something changes or time alone makes it another.
  let shown: { readonly machines: readonly Machine[]; readonly untilMs: number } | undefined;

  function isThere(entry: Kept | undefined): entry is Kept {
    return entry !== undefined && entry.goneMs === undefined;
  }

  /** As clouds with idempotency keys do: a repeated launch makes nothing, not even what was deleted meanwhile. */
  function make(launch: Launch, name: string, isLate: boolean): string {
    const machineName = nameOf(name);
    if (everMade.has(`${launch.id} ${name}`)) return machineName;
    everMade.add(`${launch.id} ${name}`);
    made.set(name, (made.get(name) ?? 0) + 1);
    const mark = canMark ? launch.mark : undefined;
    const machine: Machine = { name: machineName, mark, createdAt: clock.now(), state: 'creating' };
    const entry: Kept = { machine, launch, name, isLate, listedFromMs: clock.monotonic() + listLagMs };
    kept.set(machineName, entry);
    shown = undefined;
    for (const heard of heardMade) heard(entry);
    boot(entry);
    return machineName;
  }

  /** The cloud has agreed: the same operation for the same name of a launch, however often it is asked for. */
  function agree(launch: Launch, name: string, isLate: boolean): Outcome {
    const { pendingMs } = options;
    if (pendingMs === undefined) return { name, machine: make(launch, name, isLate) };
    const operation = `${launch.id} ${name}`;
    if (!operations.has(operation)) {
      const fault = sim.failsLate(name);
      operations.set(operation, { endsMs: clock.monotonic() + pendingMs, fault });
      if (!fault) make(launch, name, isLate);
    }
    return { name, machine: nameOf(name), operation };
  }

  function checkOne({ name, operation }: PendingCreate): Outcome {
    const { endsMs = 0, fault } = operations.get(operation) ?? {};
    return clock.monotonic() < endsMs ? { name, operation } : { name, fault };
  }

  function boot(entry: Kept): void {
    clock.alarm(typeof bootMs === 'number' ? bootMs : bootMs(entry.name), () => {
      if (!isThere(entry) || entry.machine.state !== 'creating') return;
      show(entry, { state: 'running' });
      for (const heard of booted) heard(entry);
    });
  }

  /** Suspended at once, so that what is on it stops; resumed, it boots again. */
  function park(what: 'suspend' | 'resume', name: string): Outcome {
    const entry = kept.get(name);
    if (!isThere(entry)) return { name, fault: new Fault('missing', `There is no ${name}.`) };
    if ((what === 'suspend') === (entry.machine.state === 'suspended')) return { name };
    show(entry, { state: what === 'suspend' ? 'suspended' : 'creating' });
    if (what === 'resume') boot(entry);
    else for (const heard of gone) heard(entry, 'stopped');
    return { name };
  }

  function unmake(name: string, how: 'deleted' | 'died'): void {
    const entry = kept.get(name);
    if (!isThere(entry)) return;
    entry.goneMs = clock.monotonic();
    show(entry, { state: 'deleting' });
    for (const heard of gone) heard(entry, how);
  }

  /** The cloud agrees at once; the machine goes when it has shut down. */
  function shutDown(name: string): void {
    const entry = kept.get(name);
    if (dyingMs === 0 || !isThere(entry)) return unmake(name, 'deleted');
    if (entry.machine.state === 'deleting') return;
    show(entry, { state: 'deleting' });
    clock.alarm(dyingMs, () => unmake(name, 'deleted'));
  }

  function show(entry: Kept, change: Partial<Machine>): void {
    entry.machine = { ...entry.machine, ...change };
    shown = undefined;
  }

  /** The very same answer as before where nothing has changed. */
  function listed(): readonly Machine[] {
    const nowMs = clock.monotonic();
    if (shown && nowMs < shown.untilMs) return shown.machines;
    const machines: Machine[] = [];
    let untilMs = Number.POSITIVE_INFINITY;
    for (const entry of kept.values()) {
      // Most machines are listed, and stay.
      if (isSteady(entry, nowMs)) machines.push(entry.machine);
      else if (isPast(entry, nowMs)) kept.delete(entry.machine.name);
      else if (entry.listedFromMs > nowMs) untilMs = Math.min(untilMs, entry.listedFromMs);
      else {
        machines.push(entry.machine);
        untilMs = Math.min(untilMs, listedUntilMs(entry));
      }
    }
    shown = { machines, untilMs };
    return machines;
  }

  const isSteady = ({ goneMs, listedFromMs }: Kept, nowMs: number): boolean =>
    goneMs === undefined && listedFromMs <= nowMs;

  function isPast(entry: Kept, nowMs: number): boolean {
    const endMs = listedUntilMs(entry);
    return endMs < nowMs || (endMs === nowMs && endMs === entry.goneMs);
  }

  function listedUntilMs({ goneMs }: Kept): number {
    return goneMs === undefined ? Number.POSITIVE_INFINITY : goneMs + Math.max(deletingMs, listLagMs);
  }

  /** Runs a call as the script has it; `act` does one name, `answer` tells what the caller hears. */
  async function play(call: SimCall, act: (name: string) => Outcome, signal: AbortSignal): Promise<readonly Outcome[]> {
    const effect = sim.script(call);
    if (effect?.is === 'refused') throw effect.fault;
    if (effect?.is === 'hang' && !effect.isDone) await never();
    await clock.sleep(doneAfterMs(effect) ?? answerMs, signal);
    const outcomes = call.names.flatMap((name) => {
      const special = effect?.is === 'partial' ? effect.of(name) : undefined;
      if (special instanceof Fault) return [{ name, fault: special }];
      if (special === 'skipped') return [];
      if (special === 'forgotten') return [{ name }];
      const outcome = act(name);
      return special === 'silent' ? [] : [outcome];
    });
    if (effect?.is === 'hang') await never();
    if (effect?.is === 'lost reply') throw new Fault('unavailable', 'The reply was lost.');
    return outcomes;
  }

  function called(
    name: SimCallName,
    names: readonly string[],
    about: Pick<SimCall, 'launch' | 'machines'> = {},
  ): SimCall {
    counts[name] += 1;
    const call = { name, nth: counts[name], names, ...about };
    if (keepsCalls) calls.push(call);
    return call;
  }

  async function list(signal: AbortSignal): Promise<readonly Machine[]> {
    const effect = sim.script(called('list', []));
    if (effect?.is === 'refused') throw effect.fault;
    if (effect?.is === 'hang') await never();
    // What it shows is how things stood when it was asked: the answer is older than its arrival.
    const machines = listed();
    await clock.sleep(effect?.is === 'slow' ? effect.ms : answerMs, signal);
    if (effect?.is === 'lost reply') throw new Fault('unavailable', 'The reply was lost.');
    return effect?.is === 'answer' ? effect.of(machines) : machines;
  }

  async function remove(machines: readonly Machine[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const names = machines.map((machine) => machine.name);
    return play(called('delete', names, { machines }), (name) => removeOne(name, machines), signal);
  }

  function removeOne(name: string, asked: readonly Machine[]): Outcome {
    const cluster = asked.find((machine) => machine.name === name)?.mark?.cluster;
    const owner = kept.get(name)?.machine.mark?.cluster;
    if (owner !== undefined && owner !== cluster) return { name, fault: new Fault('denied', `${name} is not ours.`) };
    shutDown(name);
    return { name };
  }

  const sim: SimCloud = {
    made,
    calls,
    script: () => undefined,
    failsLate: () => undefined,
    backend(isAlive = () => true) {
      const alive = async <T>(run: () => Promise<T>): Promise<T> => {
        if (!isAlive()) await never();
        try {
          const answer = await run();
          return isAlive() ? answer : await never();
        } catch (thrown) {
          if (!isAlive()) await never();
          throw thrown;
        }
      };
      const order =
        (what: 'suspend' | 'resume'): Parking['suspend'] =>
        (machines, signal) => {
          const names = machines.map(({ name }) => name);
          return alive(() => play(called(what, names), (name) => park(what, name), signal));
        };
      return {
        cloud,
        list: (signal) => alive(() => list(signal)),
        create: (launch, signal) => {
          const act = (name: string): Outcome => agree(launch, name, !isAlive());
          return alive(() => play(called('create', launch.names, { launch }), act, signal));
        },
        ...(options.pendingMs !== undefined && {
          check: (pending: readonly PendingCreate[], signal: AbortSignal) => {
            const act = (name: string) => checkOne(pending.find((one) => one.name === name) as PendingCreate);
            const names = pending.map(({ name }) => name);
            return alive(() => play(called('check', names), act, signal));
          },
        }),
        delete: (machines, signal) => alive(() => remove(machines, signal)),
        ...(options.pricePerHour && { pricePerHour: async () => options.pricePerHour?.() }),
        ...(options.form && { form: async () => options.form?.() ?? '' }),
        ...(options.park && { park: { ...options.park, suspend: order('suspend'), resume: order('resume') } }),
      };
    },
    find(name) {
      const entry = kept.get(name);
      return isThere(entry) ? entry.machine : undefined;
    },
    machines: () => [...kept.values()].filter(isThere),
    kill: (name) => unmake(name, 'died'),
    stop: (name) => void park('suspend', name),
    start: (name) => void park('resume', name),
    trouble(name, trouble, state) {
      const entry = kept.get(name);
      if (entry) show(entry, { trouble, state: state ?? entry.machine.state });
    },
    add(machine) {
      shown = undefined;
      kept.set(machine.name, { machine, launch: undefined, name: machine.name, listedFromMs: clock.monotonic() });
    },
    onMade: (heard) => void heardMade.push(heard),
    onBoot: (heard) => void booted.push(heard),
    onGone: (heard) => void gone.push(heard),
  };
  return sim;
}

const never = (): Promise<never> => new Promise(() => {});

function doneAfterMs(effect: SimEffect | undefined): number | undefined {
  if (effect?.is === 'slow') return effect.ms;
  return effect?.is === 'hang' ? effect.afterMs : undefined;
}

/** The simulated cloud as a kind, for a registry of backends. */
export function simKind(cloud: SimCloud, isAlive?: () => boolean): AnyKind<Backend> {
  return kind({
    summary: 'Machines that exist only on a clock.',
    config: z.record(z.string(), z.unknown()),
    example: {},
    trust: 'operator only',
    open: async () => cloud.backend(isAlive),
  });
}
