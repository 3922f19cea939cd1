// The world of this folder's tests: a store on a simulated disk, a virtual clock, and hosts of runtimes in memory.
import { openGate } from '#clouds/gate.ts';
import { knownKinds } from '#config/kinds.ts';
import { Fault } from '#core/fault.ts';
import type { Running } from '#core/feature.ts';
import type { Actor } from '#core/journal.ts';
import type { Log } from '#core/log.ts';
import type { Context } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import type { Runtimes } from '#core/runtime.ts';
import type { Store } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { startJournal } from '#journal/journal.ts';
import { type Disk, emptyDisk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import feature from '../index.ts';
import { type RuntimeSettings, sectionSchema } from '../section.ts';
import { type MemoryRuntimes, memoryProvider, openMemoryRuntimes } from './memory-runtimes.ts';

export const CALLER: Actor = { who: 'token:ci', from: '10.0.0.7' };

export interface RuntimesScene {
  readonly clock: VirtualClock;
  readonly store: Store;
  readonly memory: MemoryRuntimes;
  /** What was logged: each message with its fields. */
  readonly lines: readonly { readonly said: string; readonly fields: object }[];
  readonly runtimes: Runtimes & Running<RuntimeSettings>;
  /** The messages of all events so far, oldest first. */
  events(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

export interface RuntimesSceneOptions {
  readonly disk?: Disk;
  readonly clock?: VirtualClock;
  readonly memory?: MemoryRuntimes;
  readonly settings?: object;
  /** Answers every request of the server itself. */
  readonly fetch?: typeof fetch;
}

/** The section as it would be read from a file. */
export const settingsOf = (section: object): RuntimeSettings =>
  sectionSchema(knownKinds([memoryProvider(openMemoryRuntimes())])).parse(section);

/** So many hosts `http://h1` … of so many slots. */
export const staticSet = (count: number, slots: number, more: object = {}): object => ({
  provisioners: {
    fixed: {
      type: 'static',
      spec: {
        runtimes: Array.from({ length: count }, (_, at) => ({
          host: `http://h${at + 1}`,
          slots,
          dataDir: '/mnt/data',
        })),
        ...more,
      },
    },
  },
  default: 'fixed',
});

export const memorySet = (more: object = {}): object => ({
  provisioners: { cluster: { type: 'memory_runtime', spec: {} } },
  default: 'cluster',
  ...more,
});

export async function openRuntimesScene(options: RuntimesSceneOptions = {}): Promise<RuntimesScene> {
  const {
    clock = new VirtualClock(),
    memory = openMemoryRuntimes(),
    disk = emptyDisk(),
    settings = memorySet(),
  } = options;
  const random = seededRandom(1);
  const store = await openStore(memoryDriver(disk), (fault) => {
    throw fault;
  });
  const lines: { said: string; fields: object }[] = [];
  const log: Log = (_level, said, fields = {}) => void lines.push({ said, fields });
  const base = { store, clock, random, log };
  const journal = startJournal(base);
  const kinds = knownKinds([memoryProvider(memory)]);
  const context = { ...base, cluster: store.cluster, fetch: options.fetch } as unknown as Context;
  const gate = openGate(base);
  const runtimes = feature.start({ ...base, journal, gate, kinds, context, settings: settingsOf(settings) });
  return {
    clock,
    store,
    memory,
    lines,
    runtimes,
    async events() {
      await store.durable();
      const rows = await store.history.events({}, { limit: 1_000, order: 'oldest first' });
      return rows.map(({ message }) => message);
    },
    async stop() {
      await runtimes.stop();
      await journal.stop();
      await store.close();
    },
  };
}

export const phases = ({ store }: Pick<RuntimesScene, 'store'>): Readonly<Record<string, string>> =>
  Object.fromEntries([...store.view.runtimes.all()].map(({ id, phase }) => [id, phase]));

export const faultOfCall = async (call: Promise<unknown>): Promise<Fault> => {
  const thrown = await call.then(
    () => undefined,
    (fault) => fault,
  );
  if (thrown instanceof Fault) return thrown;
  throw new Fault('internal', 'The call did not fail.');
};
