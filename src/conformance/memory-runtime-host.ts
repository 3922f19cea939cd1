// A place for runtimes that exists only in memory, for the suite's own tests: once right, and once with each mistake.
import { z } from 'zod';
import { Fault, type FaultKind } from '#core/fault.ts';
import { kind } from '#core/provider.ts';
import type { RenderedRuntime, RuntimeHost, RuntimeObservation, RuntimeRequest } from '#core/runtime-host.ts';
import { resourcesOf } from '#core/slot-size.ts';
import { during } from '#core/testing/during.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { RuntimeHostHarness, RuntimeHostWorld } from './runtime-host-world.ts';

/** What may be wrong with a host; each must break a law of the suite. */
export interface RuntimeHostMistakes {
  readonly readyWithoutAnything?: boolean;
  readonly rendersByApplying?: boolean;
  readonly digestOfTemplatesAlone?: boolean;
  readonly freshDigests?: boolean;
  readonly grantsWithoutRendering?: boolean;
  readonly makesTwice?: boolean;
  readonly writesAlways?: boolean;
  readonly ignoresChanges?: boolean;
  readonly readyWhenSilent?: boolean;
  readonly overlooksDamage?: boolean;
  readonly shrinksStorage?: boolean;
  readonly grantsWhatWasAsked?: boolean;
  readonly hibernatesWithoutData?: boolean;
  readonly leavesData?: boolean;
  readonly releaseFailsAgain?: boolean;
  readonly listsForeign?: boolean;
  readonly removesForeign?: boolean;
  readonly everyFaultIsInternal?: boolean;
  readonly ignoresAbort?: boolean;
}

interface Held {
  readonly request: RuntimeRequest;
  readonly digest: string;
  readonly isDamaged?: boolean;
}

interface RuntimePlace {
  readonly clock: VirtualClock;
  readonly runtimes: Map<string, Held>;
  /** By name: whose data, and how much. */
  readonly data: Map<string, { readonly serial: number; readonly bytes: number }>;
  readonly foreign: Set<string>;
  revision: number;
  serial: number;
  isSilent: boolean;
  isHanging: boolean;
  fault?: FaultKind;
}

const SIZE = { cpu: 1, memoryGb: 4, storageGb: 40 };
const CALL_MS = 10;
const COUNTLESS_MS = 10 ** 9;

function hostOf(place: RuntimePlace, mistakes: RuntimeHostMistakes): RuntimeHost {
  const { clock, runtimes, data, foreign } = place;

  async function call(signal: AbortSignal): Promise<void> {
    await clock.sleep(place.isHanging ? COUNTLESS_MS : CALL_MS, mistakes.ignoresAbort ? undefined : signal);
    if (signal.aborted && !mistakes.ignoresAbort) throw new Fault('unavailable', 'The call was given up.');
    if (place.fault) throw new Fault(mistakes.everyFaultIsInternal ? 'internal' : place.fault, 'The place fails.');
  }

  function rendered(request: RuntimeRequest): RenderedRuntime {
    const { id, slots, version, diskGb } = request;
    const values = mistakes.digestOfTemplatesAlone ? 'template' : `${slots} ${version}`;
    const digest = mistakes.freshDigests ? `${values} ${++place.serial}` : values;
    const grant = { host: `http://${id}.test`, audience: `http://${id}.test`, ...resourcesOf(slots, SIZE, diskGb) };
    return { digest, templates: 'memory', grant, manifests: [] };
  }

  function write(act: () => void): void {
    place.revision += 1;
    act();
  }

  /** Keeps the data of a runtime, and answers how much there is. */
  function keepData(id: string, wantedBytes: number): number {
    const held = data.get(id);
    const bytes = mistakes.shrinksStorage ? wantedBytes : Math.max(wantedBytes, held?.bytes ?? 0);
    const isLost = held !== undefined && held.bytes > bytes;
    if (held?.bytes !== bytes) data.set(id, { serial: isLost || !held ? ++place.serial : held.serial, bytes });
    return bytes;
  }

  function store(request: RuntimeRequest): { digest: string; grant: RenderedRuntime['grant'] } {
    const { id } = request;
    const { digest, grant } = rendered(request);
    const before = runtimes.get(id);
    const isSame = before?.digest === digest && !before.isDamaged;
    const next = mistakes.ignoresChanges && before ? before : { request, digest };
    if (!isSame || mistakes.writesAlways) write(() => runtimes.set(id, next));
    if (mistakes.makesTwice && before) write(() => runtimes.set(`${id}-${++place.serial}`, next));
    const kept = keepData(id, grant.storageBytes);
    const storageBytes = mistakes.grantsWhatWasAsked ? grant.storageBytes : kept;
    return { digest, grant: { ...grant, cpu: grant.cpu + (mistakes.grantsWithoutRendering ? 1 : 0), storageBytes } };
  }

  /** What of it is not as it was asked for. */
  function differsIn(held: Held, request: RuntimeRequest): string | undefined {
    if (held.isDamaged && !mistakes.overlooksDamage) return 'A part of it is missing.';
    if (mistakes.freshDigests || held.digest === rendered(request).digest) return undefined;
    return 'It is not what was asked for.';
  }

  function look(request: RuntimeRequest): RuntimeObservation {
    if (mistakes.readyWithoutAnything) return { state: 'ready' };
    const held = runtimes.get(request.id);
    if (!held) return { state: data.has(request.id) ? 'hibernated' : 'absent' };
    const { digest } = held;
    const why = differsIn(held, request);
    if (why !== undefined) return { state: 'drifted', why, digest };
    if (place.isSilent && !mistakes.readyWhenSilent) return { state: 'coming', why: 'It does not answer.', digest };
    return { state: 'ready', digest };
  }

  return {
    cloud: 'memory',
    readyWithinMs: 30_000,
    async render(request) {
      if (mistakes.rendersByApplying) store(request);
      return rendered(request);
    },
    async apply(request, signal) {
      await call(signal);
      return store(request);
    },
    async observe(request, signal) {
      await call(signal);
      return look(request);
    },
    async release(id, signal) {
      await call(signal);
      if (mistakes.releaseFailsAgain && !runtimes.has(id)) throw new Fault('missing', `There is no ${id}.`);
      if (mistakes.removesForeign) foreign.clear();
      if (!mistakes.leavesData) data.delete(id);
      write(() => runtimes.delete(id));
    },
    async hibernate(id, signal) {
      await call(signal);
      if (mistakes.hibernatesWithoutData) data.set(id, { serial: ++place.serial, bytes: 0 });
      write(() => runtimes.delete(id));
    },
    async list(signal) {
      await call(signal);
      const names = new Set([...runtimes.keys(), ...data.keys()]);
      return [...names, ...(mistakes.listsForeign ? foreign : [])];
    },
  };
}

function openWorld(mistakes: RuntimeHostMistakes): RuntimeHostWorld {
  const place: RuntimePlace = {
    clock: new VirtualClock(),
    runtimes: new Map(),
    data: new Map(),
    foreign: new Set(),
    revision: 0,
    serial: 0,
    isSilent: false,
    isHanging: false,
  };
  return {
    open: async () => hostOf(place, mistakes),
    settle: () => place.clock.advance(1_000),
    during: (running) => during(place.clock, running),
    existing: () => [
      ...place.runtimes.keys(),
      ...[...place.data.keys()].map((id) => `data of ${id}`),
      ...place.foreign,
    ],
    revision: () => place.revision,
    dataOf: (id) => place.data.get(id)?.serial.toString(),
    async damage(id) {
      const held = place.runtimes.get(id);
      if (held) place.runtimes.set(id, { ...held, isDamaged: true });
    },
    async addForeign() {
      place.foreign.add('a-of-others');
    },
    silence() {
      place.isSilent = true;
    },
    fail(failure) {
      place.fault = failure;
    },
    hang() {
      place.isHanging = true;
    },
    async close() {},
  };
}

export const memoryRuntimeHost = (mistakes: RuntimeHostMistakes = {}): RuntimeHostHarness => ({
  kind: kind({
    summary: 'Runtimes in memory.',
    config: z.object({}),
    example: {},
    trust: 'any source',
    open: async () => openWorld(mistakes).open(),
  }),
  openWorld: async () => openWorld(mistakes),
  faults: ['unavailable', 'denied', 'throttled'],
});
