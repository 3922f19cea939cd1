// One life of a server on a fake cloud: the composition of the program, from start to death.
import { type KnownKinds, knownKinds } from '#config/kinds.ts';
import type { Clock } from '#core/clock.ts';
import type { ClusterAccess } from '#core/cluster-access.ts';
import { silentLog } from '#core/log.ts';
import type { Context, Provider } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import type { Store } from '#core/store.ts';
import { unaryOver } from '#fakes/grpc.ts';
import { makeRedactor } from '#journal/redact.ts';
import type { Allow, OpenedSource } from '#pools/pools.ts';
import { type Plane, startPlane } from '#program/plane.ts';
import { type Disk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import { providers } from '../../providers/providers.gen.ts';
import type { Network } from '../network.ts';
import { commandOf } from '../work.ts';
import type { Place, SliceDocuments } from './cloud.ts';

/** A source as the operator's file has it. */
export interface SourceEntry {
  /** Its id; default: kind and place. */
  readonly name?: string;
  readonly place: Place;
  readonly allow?: Allow;
}

export interface SliceLife extends Plane {
  readonly store: Store;
  /** As when the operator's file has changed. */
  setSources(entries: readonly SourceEntry[]): Promise<void>;
  /** Resolves when the sessions are durable. */
  submit(pool: string, count: number, durationMs: number): Promise<void>;
}

export interface SliceLifeParts {
  readonly provider: Provider;
  readonly variables: Readonly<Record<string, string>> | undefined;
  readonly documents: SliceDocuments;
  readonly clock: Clock;
  readonly disk: Disk;
  readonly network: Network;
  readonly sources: readonly SourceEntry[];
  readonly seed: number;
  isAlive(): boolean;
  /** The process is dead: its connections break. */
  readonly died: AbortSignal;
  /** One write or call that the process may not survive. */
  step<T>(at: 'write' | 'call', act: () => Promise<T>): Promise<T>;
  readonly fetch: typeof fetch;
  readonly access: ClusterAccess | undefined;
}

const EVERY_MS = 20_000;
const ACTOR = { who: 'test', from: 'here' };
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

async function openProcessStore({ disk, step }: SliceLifeParts): Promise<Store> {
  const driver = memoryDriver(disk);
  const write: typeof driver.write = (changes) =>
    changes.length === 0 ? driver.write(changes) : step('write', () => driver.write(changes));
  return openStore({ ...driver, write }, () => {});
}

export async function startSliceLife(parts: SliceLifeParts): Promise<SliceLife> {
  const { clock, disk, network, documents, step, isAlive } = parts;
  const store = await openProcessStore(parts);
  const random = seededRandom(parts.seed + disk.epoch);
  const reach: typeof fetch = (input, init) => {
    const signal = init?.signal ? AbortSignal.any([init.signal, parts.died]) : parts.died;
    return step('call', () => parts.fetch(input, { ...init, signal }));
  };
  const { access } = parts;
  let isPacked = false;
  const context: Context = {
    cluster: store.cluster,
    clock,
    random: seededRandom(1),
    log: silentLog,
    fetch: reach,
    shared: openShared(),
    fetchWith: () => reach,
    unary: unaryOver(reach),
    ...(access && { clusterAt: async () => access }),
    dataDir: '/nowhere',
    agentCommand: [],
    variable: (name) => parts.variables?.[name],
  };
  const open = (entries: readonly SourceEntry[]): Promise<OpenedSource[]> =>
    Promise.all(
      entries.map(async ({ name, place, allow }) => {
        const opened = await documents.open(place, context);
        const { mayName, limits } = parts.provider.sources?.[opened.kind] ?? {};
        const id = name ?? `${opened.kind}:${opened.place}`;
        return { ...opened, id, everyMs: EVERY_MS, trust: 'foreign', allow, mayName, limits };
      }),
    );
  const plane = await startPlane({
    store,
    clock,
    random,
    log: silentLog,
    redactor: makeRedactor(),
    kinds: kindsWith(parts.provider),
    context,
    link: {
      send: (agent, command) => isAlive() && network.send(agent, command),
      dismiss: (agent, why) => isAlive() && network.dismiss(agent, why),
    },
    sources: await open(parts.sources),
    agentConfig: ({ name }) => `pool: ${name}`,
    async packAgent() {
      isPacked = true;
    },
    install: () => (isPacked ? INSTALL : undefined),
  });
  const { machines, sessions } = plane;
  if (isAlive()) {
    network.open({
      join: machines.join,
      leave: machines.leave,
      agentJoined: sessions.agentJoined,
      report: sessions.report,
    });
  }
  return {
    ...plane,
    store,
    setSources: async (entries) => plane.pools.setSources(await open(entries)),
    async submit(pool, count, durationMs) {
      const command = commandOf({ durationMs, exitCode: 0, pieces: 0 });
      const spec = { command, env: {}, stdin: false, priority: 0, labels: {}, graceMs: 0, retries: 3 };
      await sessions.submit(Array(count).fill({ pool, spec }), ACTOR);
    },
  };
}
