// One life of a server on the simulated AWS: the real pools, workers, clouds and providers, from start to death.
import { openCaller } from '#clouds/caller.ts';
import { openClouds } from '#clouds/clouds.ts';
import { knownKinds } from '#config/kinds.ts';
import { readPool } from '#config/pool-document.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import type { Context } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import type { Store } from '#core/store.ts';
import { type Journal, startJournal } from '#journal/journal.ts';
import { type OpenedSource, type Pools, startPools } from '#pools/pools.ts';
import { type Disk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import { startWorkers, type Workers } from '#workers/workers.ts';
import aws from '../../providers/aws/index.ts';
import { providers } from '../../providers/providers.gen.ts';
import type { SimAgents } from '../part/agents.ts';
import { type SimSessions, simSessions } from '../part/sessions.ts';

/** A source `aws` as the operator's file has it. */
export interface SourceEntry {
  /** Its id; kind and place where it has none. */
  readonly name?: string;
  readonly region: string;
  readonly prefix: string;
}

export interface Life {
  readonly store: Store;
  readonly pools: Pools;
  readonly workers: Workers;
  readonly journal: Journal;
  readonly sessions: SimSessions;
  /** As when the operator's file has changed. */
  setSources(entries: readonly SourceEntry[]): Promise<void>;
}

export interface LifeParts {
  readonly clock: Clock;
  readonly disk: Disk;
  readonly agents: SimAgents;
  readonly sources: readonly SourceEntry[];
  /** Another for each cluster of a world: ids must differ as they would by chance. */
  readonly seed: number;
  /** One write or call to AWS, which the process may not survive. */
  step<T>(at: 'write' | 'call', act: () => Promise<T>): Promise<T>;
  readonly fetch: typeof fetch;
}

const EVERY_MS = 20_000;
const KINDS = knownKinds(providers).backends;

async function openSource({ name, region, prefix }: SourceEntry, context: Context): Promise<OpenedSource> {
  const kind = aws.sources.aws;
  const config = kind.config.parse({ region, configPrefix: prefix });
  const place = kind.place?.(config);
  const source = await kind.open(config, context);
  return { id: name ?? `aws:${place}`, kind: 'aws', place, source, everyMs: EVERY_MS, trust: 'foreign' };
}

async function openMortalStore({ disk, step }: LifeParts): Promise<Store> {
  const driver = memoryDriver(disk);
  const write: typeof driver.write = (changes) =>
    changes.length === 0 ? driver.write(changes) : step('write', () => driver.write(changes));
  return openStore({ ...driver, write }, () => {});
}

function contextOf({ clock, step, fetch }: LifeParts, cluster: string): Context {
  return {
    cluster,
    clock,
    random: seededRandom(1),
    log: silentLog,
    fetch: (input, init) => step('call', () => fetch(input, init)),
    dataDir: '/nowhere',
    agentCommand: [],
  };
}

export async function openLife(parts: LifeParts): Promise<Life> {
  const { clock, disk, agents, seed } = parts;
  const store = await openMortalStore(parts);
  const context = contextOf(parts, store.cluster);
  const base = { store, clock, random: seededRandom(seed + disk.epoch), log: silentLog };
  const journal = startJournal(base);
  const clouds = openClouds({ kinds: KINDS, context, ...base });
  const open = (entries: readonly SourceEntry[]) => Promise.all(entries.map((entry) => openSource(entry, context)));
  const pools = startPools({
    ...base,
    journal,
    readPool: (text, { trust }) => readPool(text, { kinds: KINDS, trust }),
    sources: await open(parts.sources),
    redact: (text) => text,
    gate: openCaller(base),
  });
  const workers = startWorkers({
    ...base,
    journal,
    clouds,
    link: agents,
    admit({ proof }) {
      if (!proof.token?.startsWith('token of ')) throw new Fault('denied', 'No token.');
      return { launch: proof.token.slice('token of '.length) };
    },
    bootConfig: (pool) => `pool: ${pool.name}`,
    launchToken: (launch) => `token of ${launch}`,
    install: () => ({
      archives: [{ machine: 'x86_64', url: 'https://muster:8081/agent/agent.tar.gz', sha256: 'ab12' }],
    }),
  });
  const sessions = simSessions({ store, clock, agents });
  agents.connectTo({ join: workers.join, leave: workers.leave, joined: sessions.joined, finished: sessions.finished });
  return {
    store,
    pools,
    workers,
    journal,
    sessions,
    setSources: async (entries) => pools.setSources(await open(entries)),
  };
}
