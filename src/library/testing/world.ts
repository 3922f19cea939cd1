// Scripts that use the library, one after another or at once, on one machine and one fake cloud, on a virtual clock.
import { knownKinds } from '#config/kinds.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { MachineEndpoint } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { during } from '#core/testing/during.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { unaryOver } from '#fakes/grpc.ts';
import { processClock } from '#sim/process-clock.ts';
import type { SliceCloud, SliceHarness, SliceMachine } from '#sim/slice/cloud.ts';
import { type Disk, emptyDisk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import { providers } from '../../providers/providers.gen.ts';
import type { ComputerLog } from '../base.ts';
import type { LibraryParts } from '../parts.ts';
import { withParts } from './with-parts.ts';

export const STATE_DIR = '/state';

export type Line = readonly [level: keyof ComputerLog, text: string];

/** One process. */
export interface Script {
  readonly parts: LibraryParts;
  /** As SIGKILL. */
  kill(): void;
  readonly isDead: boolean;
  /** The class as this script has it. */
  use<C extends new (...args: never[]) => object>(it: C): C;
}

export interface LibraryWorldOptions {
  readonly variables?: Readonly<Record<string, string>>;
  readonly bootMs?: number;
  readonly lagMs?: number;
  /** The most items on a page of a listing; 1 unless given. */
  readonly pageSize?: number;
  /** Whether a machine of the cloud is behind that place; absent: behind any, while one of ours runs. */
  reaches?(cloud: SliceCloud, place: MachineEndpoint): boolean;
}

export interface LibraryWorld {
  readonly clock: VirtualClock;
  readonly cloud: SliceCloud;
  readonly lines: Line[];
  readonly log: ComputerLog;
  /** Addresses that were asked for their health. */
  readonly probes: string[];
  /** Whether agents answer on machines that run; asked at each probe. */
  answers: () => boolean;
  /** With `diesAt`: it is killed right after so many writes to its disk and calls to the cloud. */
  script(options?: { readonly diesAt?: number }): Script;
  /** Awaits a call while time passes. */
  during<T>(call: Promise<T>): Promise<T>;
  /** Machines with a mark of ours that exist. */
  ours(): SliceMachine[];
  readonly disks: ReadonlyMap<string, Disk>;
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});

export async function openLibraryWorld(
  harness: SliceHarness,
  { variables = harness.variables ?? {}, bootMs = 2_000, lagMs = 0, pageSize = 1, reaches }: LibraryWorldOptions = {},
): Promise<LibraryWorld> {
  await harness.load?.();
  const clock = new VirtualClock();
  const cloud = harness.openCloud({ clock, random: seededRandom(1), pageSize, isLimited: false, lagMs, bootMs });
  const others = providers.filter(({ id }) => id !== harness.provider.id);
  const kinds = knownKinds([...others, harness.provider]);
  const disks = new Map<string, Disk>();
  const held = new Map<string, () => boolean>();
  const lines: Line[] = [];
  const probes: string[] = [];
  let scripts = 0;

  const say =
    (level: keyof ComputerLog) =>
    (text: string): void =>
      void lines.push([level, text]);

  const isRunning = ({ mark, state }: SliceMachine): boolean => mark !== undefined && state(clock.now()) === 'running';

  const probe: typeof fetch = async (input) => {
    probes.push(String(input));
    const { hostname: host, port } = new URL(String(input));
    const isThere = reaches?.(cloud, { host, port: Number(port) }) ?? cloud.machines().some(isRunning);
    if (world.answers() && isThere) return Response.json({ healthy: true });
    throw new TypeError('fetch failed');
  };

  function diskOf(folder: string): Disk {
    const disk = disks.get(folder) ?? emptyDisk(`cluster${disks.size + 1}`);
    disks.set(folder, disk);
    return disk;
  }

  function script({ diesAt = Number.POSITIVE_INFINITY } = {}): Script {
    scripts += 1;
    const nth = scripts;
    let isDead = false;
    let points = 0;
    const isAlive = (): boolean => !isDead;
    const alive = async <T>(act: () => Promise<T>): Promise<T> => {
      if (isDead) return never();
      const done = await act();
      points += 1;
      if (points === diesAt) isDead = true;
      return isDead ? never() : done;
    };
    const reach: typeof fetch = (input, init) => alive(() => cloud.fake.fetch(input, init));
    const access = cloud.openCluster?.();
    const parts: LibraryParts = {
      clock: processClock(clock, isAlive),
      random: seededRandom(nth),
      kinds,
      outside: {
        fetch: reach,
        fetchWith: () => reach,
        unary: unaryOver(reach),
        userAgent: 'muster/0.1.0',
        ...(access && { clusterAt: async () => access }),
      },
      probe: (input, init) => alive(() => probe(input, init)),
      variable: (name) => variables[name],
      stateDir: STATE_DIR,
      isUsed: (folder) => disks.has(folder),
      async hold(folder) {
        if (held.get(folder)?.()) throw new Fault('conflict', `The computer of ${folder} is in use.`);
        let isHeld = true;
        held.set(folder, () => isHeld && isAlive());
        return {
          release() {
            isHeld = false;
          },
        };
      },
      async openStore(folder, _log: Log, lost) {
        const driver = memoryDriver(diskOf(folder));
        const write: typeof driver.write = (changes) => alive(() => driver.write(changes));
        const store = await openStore({ ...driver, write }, lost);
        return { store, close: () => store.close() };
      },
    };
    return {
      parts,
      kill() {
        isDead = true;
      },
      get isDead() {
        return isDead;
      },
      use: (it) => withParts(it, parts),
    };
  }

  const world: LibraryWorld = {
    clock,
    cloud,
    lines,
    log: { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') },
    probes,
    answers: () => true,
    script,
    during: (call) => during(clock, call),
    ours: () => cloud.machines().filter(({ mark, exists }) => mark !== undefined && exists(clock.now())),
    disks,
  };
  return world;
}
