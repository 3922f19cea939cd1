// A cloud in memory with everything that real ones have: pages, marks, lag, lost replies, calls that hang. The suite is
// tried on it, whole and broken.
import { z } from 'zod';
import { Fault, type FaultKind } from '#core/fault.ts';
import type { AnyKind, Backend, Launch, Machine, Mark, Outcome, Parking } from '#core/provider.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { BackendHarness, BackendWorld } from './backend-world.ts';

const PAGE = 5;
const LAG_MS = 2_000;
const CALL_MS = 50;

/** What may be wrong with a backend; each must break a law. */
export interface Mistakes {
  readonly firstPageOnly?: boolean;
  readonly createsAgain?: boolean;
  readonly listsForeign?: boolean;
  readonly dropsMarks?: boolean;
  readonly absentIsAnError?: boolean;
  readonly ignoresAbort?: boolean;
  readonly swallowsBrokenPage?: boolean;
  readonly deletesForeign?: boolean;
  readonly trustsTheShownMark?: boolean;
  readonly logsToken?: boolean;
  readonly everyFaultIsInternal?: boolean;
  readonly lostReplyIsFailure?: boolean;
  readonly hangsForEver?: boolean;
  readonly deletesAll?: boolean;
  readonly namesAllAlike?: boolean;
  readonly dropsLateFailures?: boolean;
  readonly showsLateFailuresForEver?: boolean;
  readonly suspendDeletes?: boolean;
  readonly suspendsAll?: boolean;
  readonly suspendsForeign?: boolean;
  readonly suspendsOnce?: boolean;
}

interface Held {
  readonly name: string;
  readonly mark: Mark;
  readonly madeAtMs: number;
  state: Machine['state'];
  /** It was promised, and never came. */
  readonly isPromise: boolean;
}

export function memoryCloud(mistakes: Mistakes = {}): BackendHarness {
  return {
    kind: memoryKind(),
    openWorld: async () => openWorld(mistakes),
    many: PAGE * 2 + 1,
    faults: ['denied', 'exhausted', 'quota', 'throttled', 'unavailable'],
  };
}

export function memoryKind(): AnyKind<Backend> {
  return {
    summary: 'Machines that exist only in memory.',
    config: z.object({ startScript: z.string() }),
    example: { start_script: 'true' },
    trust: 'any source',
    open: () => Promise.reject(new Fault('unsupported', 'Opened by its world.')),
  };
}

function openWorld(mistakes: Mistakes): BackendWorld {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const held: Held[] = [];
  const next: { lost?: boolean; broken?: boolean; hanging?: boolean; fault?: FaultKind | undefined; late?: boolean } =
    {};

  /** One call over the wire: takes a moment, may hang, and ends when its signal does. */
  async function call(signal: AbortSignal): Promise<void> {
    if (mistakes.ignoresAbort) return clock.sleep(CALL_MS);
    if (next.hanging && mistakes.hangsForEver) await new Promise(() => {});
    await clock.sleep(next.hanging ? Number.MAX_SAFE_INTEGER : CALL_MS, signal);
    if (signal.aborted) throw new Fault('unavailable', 'The call was given up.');
  }

  async function page(at: number, signal: AbortSignal): Promise<readonly Held[]> {
    await call(signal);
    if (next.broken && at > 0) {
      if (mistakes.swallowsBrokenPage) return [];
      throw new Fault('unavailable', 'The second page could not be read.');
    }
    return held.filter(({ madeAtMs }) => clock.monotonic() - madeAtMs >= LAG_MS).slice(at, at + PAGE);
  }

  function takeFault(): void {
    const kind = next.fault;
    next.fault = undefined;
    if (kind) throw new Fault(mistakes.everyFaultIsInternal ? 'internal' : kind, `The cloud says: ${kind}.`);
  }

  function makeAll({ names, mark }: Launch): void {
    const mayRepeat = mistakes.createsAgain || mistakes.namesAllAlike;
    for (const wanted of names) {
      const name = mistakes.namesAllAlike ? (names[0] ?? wanted) : wanted;
      if (!mayRepeat && held.some((one) => one.name === name)) continue;
      held.push({ name, mark, madeAtMs: clock.monotonic(), state: 'running', isPromise: takeLate() });
    }
  }

  async function create(launch: Launch, signal: AbortSignal): Promise<Outcome[]> {
    if (mistakes.logsToken) lines.push(launch.boot.token);
    await call(signal);
    takeFault();
    makeAll(launch);
    const isLost = next.lost;
    next.lost = false;
    if (isLost && mistakes.lostReplyIsFailure) throw new Fault('exhausted', 'No capacity.');
    if (isLost) throw new Fault('unavailable', 'The connection broke.');
    return launch.names.map((name) => ({ name }));
  }

  function takeLate(): boolean {
    const isLate = next.late === true;
    next.late = false;
    return isLate;
  }

  function isForeign(found: Held | undefined, shown: Mark | undefined, cluster: string): boolean {
    return (found?.mark ?? shown)?.cluster !== cluster || shown?.cluster !== cluster;
  }

  /** Stops or wakes; what is in that state already is left as it is. */
  function setState(state: 'suspended' | 'running', { name, mark }: Machine, cluster: string): Outcome {
    const found = held.find((one) => one.name === name);
    const isRefused = !mistakes.suspendsForeign && isForeign(found, mark, cluster);
    if (isRefused) return { name, fault: new Fault('denied', `${name} is not ours.`) };
    if (!found) return { name, fault: new Fault('missing', `${name} is not there.`) };
    if (mistakes.suspendsOnce && found.state === state) return { name, fault: new Fault('conflict', 'It is already.') };
    if (mistakes.suspendDeletes) drop(found);
    for (const one of mistakes.suspendsAll ? held : [found]) one.state = state;
    return { name };
  }

  function drop(one: Held): void {
    const staysShown = mistakes.showsLateFailuresForEver && one.isPromise;
    if (held.includes(one) && !staysShown) held.splice(held.indexOf(one), 1);
  }

  function remove({ name, mark }: Machine, cluster: string): Outcome {
    const found = held.find((one) => one.name === name);
    const seen = mistakes.trustsTheShownMark ? undefined : found;
    if (!mistakes.deletesForeign && isForeign(seen, mark, cluster))
      return { name, fault: new Fault('denied', `${name} is not ours.`) };
    if (!found && mistakes.absentIsAnError) return { name, fault: new Fault('missing', `${name} does not exist.`) };
    const doomed = held.filter((one) => mistakes.deletesAll || one === found);
    for (const one of doomed) drop(one);
    return { name };
  }

  const asMachine = ({ name, mark, madeAtMs, state, isPromise }: Held): Machine => ({
    ...{ name, createdAt: madeAtMs, state: isPromise ? 'deleting' : state },
    mark: mistakes.dropsMarks ? undefined : mark,
    ...(isPromise ? { trouble: { kind: 'exhausted', message: 'No capacity.', final: true } } : {}),
  });

  const isShown = ({ isPromise }: Held): boolean => !(isPromise && mistakes.dropsLateFailures);

  function open(cluster: string): Backend {
    return {
      cloud: 'memory',
      async list(signal) {
        const all: Held[] = [];
        for (let at = 0, size = PAGE; size === PAGE && !(mistakes.firstPageOnly && at > 0); at += PAGE) {
          const part = await page(at, signal);
          size = part.length;
          all.push(...part);
        }
        const ours = all.filter(({ mark }) => mistakes.listsForeign || mark.cluster === cluster);
        return ours.filter(isShown).map(asMachine);
      },
      create,
      async delete(machines, signal) {
        await call(signal);
        return machines.map((machine) => remove(machine, cluster));
      },
    };
  }

  const parkOf = (cluster: string): Parking => {
    const to = (state: 'suspended' | 'running') => async (machines: readonly Machine[], signal: AbortSignal) => {
      await call(signal);
      return machines.map((machine) => setState(state, machine, cluster));
    };
    return { most: 1, suspend: to('suspended'), resume: to('running') };
  };

  return {
    open: async (cluster) => open(cluster),
    openParking: async (cluster) => ({ ...open(cluster), park: parkOf(cluster) }),
    existing: async () => held.filter(({ isPromise }) => !isPromise).map(({ name }) => name),
    async during(running) {
      let isOver = false;
      const over = (): void => {
        isOver = true;
      };
      running.then(over, over);
      for (let rounds = 0; !isOver && rounds < 1_000; rounds++) await clock.advance(CALL_MS);
      if (!isOver) throw new Fault('internal', 'the call never ended');
      return running;
    },
    settle: () => clock.advance(LAG_MS),
    logged: () => lines.join('\n'),
    loseReply: () => {
      next.lost = true;
    },
    breakListing: () => {
      next.broken = true;
    },
    hang: () => {
      next.hanging = true;
    },
    fail: (kind) => {
      next.fault = kind;
    },
    failLate: () => {
      next.late = true;
    },
    close: async () => {},
  };
}
