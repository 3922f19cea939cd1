// The slice from document to machine and back: a server that may die at any commit or call, and a fake cloud that
// goes on.
import { type KnownKinds, knownKinds } from '#config/kinds.ts';
import type { Context, Provider } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { unaryOver } from '#fakes/grpc.ts';
import type { Allow, OpenedSource } from '#pools/pools.ts';
import { emptyDisk } from '#store/memory.ts';
import { providers } from '../../providers/providers.gen.ts';
import { chanceFrom } from '../chance.ts';
import { rowOn } from '../disk.ts';
import type { Life, LifeProcess } from '../server.ts';
import { openWorld, type World, type WorldOptions } from '../world.ts';
import { startSliceAgents } from './agents.ts';
import type { Place, SliceCloud, SliceDocuments, SliceHarness, SliceMachine } from './cloud.ts';
import { memoryDocuments } from './memory-documents.ts';

/** A source as the operator's file has it. */
export interface SourceEntry {
  /** Its id; default: kind and place. */
  readonly name?: string;
  readonly place: Place;
  readonly allow?: Allow;
}

export interface SliceWorldOptions extends Pick<WorldOptions, 'crashAt' | 'log'> {
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

export interface SliceWorld extends Pick<World, 'clock' | 'agents' | 'points' | 'disk' | 'server'> {
  readonly cloud: SliceCloud;
  readonly documents: SliceDocuments;
  /** The present life, or the last. */
  readonly life: Life;
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
const SYNC_EVERY_MS = 20_000;
/** What the server offers to machines without an agent, once it is packed. */
export const INSTALL = {
  archives: [{ machine: 'x86_64', url: 'https://muster:8081/agent/agent.tar.gz', sha256: 'ab12' }],
};

const kindsOf = new WeakMap<Provider, KnownKinds>();

/** Made once for each provider: the schema of pools is built for it, and that takes longer than a story. */
function kindsWith(provider: Provider): KnownKinds {
  const kinds = kindsOf.get(provider) ?? knownKinds([...providers.filter(({ id }) => id !== provider.id), provider]);
  kindsOf.set(provider, kinds);
  return kinds;
}

function openCloud(harness: SliceHarness, options: SliceWorldOptions) {
  const { pageSize = 1, isLimited = false, lagMs = USUAL_MS, bootMs = USUAL_MS } = options;
  const clock = new VirtualClock();
  const cloud = harness.openCloud({ clock, random: seededRandom(1), pageSize, isLimited, lagMs, bootMs });
  return { clock, cloud, documents: cloud.documents ?? memoryDocuments() };
}

export async function openSliceWorld(harness: SliceHarness, options: SliceWorldOptions = {}): Promise<SliceWorld> {
  await harness.load?.();
  const { clock, cloud, documents } = options.beside ?? openCloud(harness, options);
  const { crashAt, log, seed = 0 } = options;
  const { provider, variables } = harness;
  const disk = emptyDisk(options.cluster);
  let sources = options.sources ?? [{ place: 'pools' }];
  let openSources: (entries: readonly SourceEntry[]) => Promise<OpenedSource[]>;

  function contextOf({ context, died, call }: LifeProcess): Context {
    const reach: typeof fetch = (input, init) => {
      const signal = init?.signal ? AbortSignal.any([init.signal, died]) : died;
      return call(() => cloud.fake.fetch(input, { ...init, signal }));
    };
    const access = cloud.openCluster?.();
    return {
      ...context,
      random: seededRandom(1),
      fetch: reach,
      fetchWith: () => reach,
      unary: unaryOver(reach),
      ...(access && { clusterAt: async () => access }),
      variable: (name) => variables?.[name],
    };
  }

  async function openSource({ name, place, allow }: SourceEntry, context: Context): Promise<OpenedSource> {
    const opened = await documents.open(place, context);
    const { mayName, limits } = provider.sources?.[opened.kind] ?? {};
    const id = name ?? `${opened.kind}:${opened.place}`;
    return { ...opened, id, everyMs: SYNC_EVERY_MS, trust: 'foreign', allow, mayName, limits };
  }

  const world = openWorld({
    clock,
    disk,
    crashAt,
    log,
    chance: (part) => chanceFrom(seededRandom(seed + (part === 'network' ? 1 : 2))),
    random: (life) => seededRandom(seed + life),
    downMs: () => DOWN_MS,
    async compose(process) {
      const context = contextOf(process);
      let isPacked = false;
      openSources = (entries) => Promise.all(entries.map((entry) => openSource(entry, context)));
      return {
        kinds: kindsWith(provider),
        context,
        sources: await openSources(sources),
        agentConfig: ({ name, endsAt }) => `pool: ${name}\n${endsAt === undefined ? '' : `endsAt: ${endsAt}\n`}`,
        async packAgent() {
          isPacked = true;
        },
        install: () => (isPacked ? INSTALL : undefined),
      };
    },
    started({ store }) {
      store.onChange('documents', (after) => {
        const { message, place } = after?.fault ?? {};
        if (after && message !== undefined)
          harness.refused?.(`${after.key}: ${[place, message].filter(Boolean).join(': ')}`);
      });
    },
  });
  const { server, agents, points } = world;
  const isOurs = ({ mark }: SliceMachine): boolean => mark?.cluster === disk.cluster;
  const ownerName = (id: string): string => (rowOn(disk, 'pools', id) ?? rowOn(disk, 'computers', id))?.name ?? '';
  startSliceAgents({ clock, cloud, agents, isOurs, ownerName });
  // The point may lie in the very first start: then the clock must go on before there is a life.
  void server.start();
  for (let rounds = 0; !server.lastLife && rounds < 100; rounds++) await clock.advance(DOWN_MS / 10);
  return {
    ...{ clock, cloud, documents, agents, points, disk, server },
    get life() {
      return server.lastLife;
    },
    machines: () => cloud.machines().filter((one) => isOurs(one) && one.exists(clock.now())),
    poolId: (name) => [...(server.lastLife?.store.view.pools.by('name', name) ?? [])][0]?.id,
    async setSources(entries) {
      sources = entries;
      server.lastLife?.pools.setSources(await openSources(entries));
    },
    restart: () => server.crash('restarted'),
  };
}
