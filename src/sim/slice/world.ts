// The slice from document to machine and back on a virtual clock: a server that may die at any write or call, and a
// fake cloud that goes on.
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { emptyDisk } from '#store/memory.ts';
import { chanceFrom } from '../chance.ts';
import { openNetwork } from '../network.ts';
import { processClock } from '../process-clock.ts';
import { openSliceAgents, type SliceAgents } from './agents.ts';
import type { SliceCloud, SliceDocuments, SliceHarness, SliceMachine } from './cloud.ts';
import { type SliceLife, type SourceEntry, startSliceLife } from './life.ts';
import { memoryDocuments } from './memory-documents.ts';

/** Where the process dies: at its nth write or call, before or after that was done. */
export interface Point {
  readonly at: 'write' | 'call';
  readonly nth: number;
  readonly isDone: boolean;
}

export interface SliceWorldOptions {
  readonly point?: Point | undefined;
  /** What the file names at the start; default: the pools, without a name. */
  readonly sources?: readonly SourceEntry[];
  /** Default: 1, so that every listing has pages. */
  readonly pageSize?: number;
  readonly isLimited?: boolean;
  /** Default: 2 seconds. */
  readonly lagMs?: number;
  readonly bootMs?: number;
  /** A server of another cluster in the same account, on the same clock. */
  readonly beside?: Pick<SliceWorld, 'clock' | 'cloud' | 'documents'>;
  readonly cluster?: string;
  /** Another for each cluster: ids must differ as they would by chance. */
  readonly seed?: number;
}

export interface SliceWorld {
  readonly clock: VirtualClock;
  readonly cloud: SliceCloud;
  readonly documents: SliceDocuments;
  readonly agents: SliceAgents;
  /** The present life, or the last. */
  readonly life: SliceLife;
  /** All writes and calls of all lives so far. */
  readonly counts: Readonly<Record<Point['at'], number>>;
  /** The machines of this cluster that exist, as the fake knows them. */
  machines(): SliceMachine[];
  poolId(name: string): string | undefined;
  /** As when the operator's file has changed; later lives have it too. */
  setSources(entries: readonly SourceEntry[]): Promise<void>;
  /** The process dies, and another starts soon after. */
  restart(): void;
}

const DOWN_MS = 5_000;
const USUAL_MS = 2_000;
const never = (): Promise<never> => new Promise(() => {});

function openGround(harness: SliceHarness, options: SliceWorldOptions) {
  const { pageSize = 1, isLimited = false, lagMs = USUAL_MS, bootMs = USUAL_MS } = options;
  const clock = new VirtualClock();
  const cloud = harness.openCloud({ clock, random: seededRandom(1), pageSize, isLimited, lagMs, bootMs });
  return { clock, cloud, documents: cloud.documents ?? memoryDocuments() };
}

export async function openSliceWorld(harness: SliceHarness, options: SliceWorldOptions = {}): Promise<SliceWorld> {
  await harness.load?.();
  const { clock, cloud, documents } = options.beside ?? openGround(harness, options);
  const { point, seed = 0 } = options;
  const disk = emptyDisk(options.cluster);
  const names = new Map<string, string>();
  const isOurs = ({ mark }: SliceMachine): boolean => mark?.cluster === disk.cluster;
  const network = openNetwork({ clock, chance: chanceFrom(seededRandom(seed + 1)), mostLatencyMs: 0 });
  const chance = chanceFrom(seededRandom(seed + 2));
  const agents = openSliceAgents({ clock, chance, cloud, network, isOurs, poolName: (id) => names.get(id) ?? '' });
  const counts = { write: 0, call: 0 };
  let sources = options.sources ?? [{ place: 'pools' }];
  let isAlive = (): boolean => false;
  let kill = (): void => {};
  let life: SliceLife | undefined;

  function die(): void {
    kill();
    network.shut();
    clock.alarm(DOWN_MS, () => void start());
  }

  /** One step that the process may not survive. */
  async function step<T>(at: Point['at'], act: () => Promise<T>): Promise<T> {
    const lives = isAlive;
    counts[at] += 1;
    const isHit = point?.at === at && point.nth === counts[at];
    if (isHit && !point.isDone) {
      die();
      return never();
    }
    const done = await act();
    if (isHit) die();
    return lives() ? done : never();
  }

  async function start(): Promise<void> {
    const dying = new AbortController();
    isAlive = () => !dying.signal.aborted;
    kill = () => dying.abort();
    const lives = isAlive;
    const born = await startSliceLife({
      provider: harness.provider,
      variables: harness.variables,
      documents,
      clock: processClock(clock, lives),
      disk,
      network,
      sources,
      seed,
      isAlive: lives,
      died: dying.signal,
      // What still reaches a dead process, the break of its connections say, moves nothing.
      step: (at, act) => (lives() ? step(at, act) : never()),
      access: cloud.openCluster?.(),
      fetch: cloud.fake.fetch,
    });
    if (!lives()) return;
    born.store.onChange('documents', (after) => {
      const { message, place } = after?.fault ?? {};
      if (after && message !== undefined)
        harness.refused?.(`${after.key}: ${[place, message].filter(Boolean).join(': ')}`);
    });
    born.store.onChange('pools', (after, _before, id) => after && names.set(id, after.name));
    for (const pool of born.store.view.pools.all()) names.set(pool.id, pool.name);
    life = born;
  }

  const world: SliceWorld = {
    clock,
    cloud,
    documents,
    agents,
    get life() {
      return life as SliceLife;
    },
    counts,
    machines: () => cloud.machines().filter((one) => isOurs(one) && one.exists(clock.now())),
    poolId: (name) => [...(life?.store.view.pools.by('name', name) ?? [])][0]?.id,
    async setSources(entries) {
      sources = entries;
      await life?.setSources(entries);
    },
    restart: die,
  };
  // A point may lie in the very first start: then the clock must go on before there is a life.
  void start();
  for (let rounds = 0; !life && rounds < 100; rounds++) await clock.advance(DOWN_MS / 10);
  return world;
}
