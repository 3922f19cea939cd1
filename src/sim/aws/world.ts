// The slice from Parameter Store to EC2 on a virtual clock: the real pools, workers, clouds and provider, a server that
// may die at any write or call, and the simulated AWS, which goes on.
import { openClouds } from '#clouds/clouds.ts';
import { readPool } from '#config/pool-document.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import type { Context } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import type { Store } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { startJournal } from '#journal/journal.ts';
import { type OpenedSource, startPools } from '#pools/pools.ts';
import { type Disk, emptyDisk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import { startWorkers } from '#workers/workers.ts';
import { isOver } from '../../providers/aws/fake/ec2/instance.ts';
import { type FakeAws, type FakeAwsOptions, openFakeAws } from '../../providers/aws/fake/fake-aws.ts';
import aws from '../../providers/aws/index.ts';
import { mortalClock } from '../mortal-clock.ts';
import { type SimAgents, simAgents } from '../part/agents.ts';
import { type SimSessions, simSessions } from '../part/sessions.ts';
import { awsMachines } from './machines.ts';

export const REGION = 'us-west-2';
const PREFIX = '/velda/pools/';
const BOOT_MS = 2_000;

/** Where the process dies: at its nth write or call to AWS, before or after that was done. */
export interface Point {
  readonly at: 'write' | 'call';
  readonly nth: number;
  readonly isDone: boolean;
}

interface Life {
  readonly store: Store;
  readonly sessions: SimSessions;
}

export interface AwsWorld {
  readonly clock: VirtualClock;
  readonly fake: FakeAws;
  readonly agents: SimAgents;
  readonly life: Life;
  /** All writes and calls of all lives so far. */
  readonly counts: { write: number; call: number };
  /** The names of the machines that AWS itself knows of, past any client. */
  machines(): string[];
  poolId(name: string): string | undefined;
}

const never = (): Promise<never> => new Promise(() => {});
const DOWN_MS = 5_000;

export async function openAwsWorld(point?: Point, options: Partial<FakeAwsOptions> = {}): Promise<AwsWorld> {
  const clock = new VirtualClock();
  const behaviour = { bootMs: BOOT_MS, terminateMs: 3_000, largestPage: 1, listLagMs: 2_000, ...options.behaviour };
  const fake = openFakeAws({ clock, random: seededRandom(1), ...options, behaviour });
  const disk = emptyDisk();
  const names = new Map<string, string>();
  const machines = awsMachines(fake, clock);
  const agents = simAgents({ clock, cloud: machines, slots: 1, poolName: (id) => names.get(id) ?? '' });
  const counts = { write: 0, call: 0 };
  let isAlive = (): boolean => false;
  let kill = (): void => {};
  let life: Life | undefined;

  function die(): void {
    kill();
    agents.connectTo(undefined);
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
    let isDead = false;
    isAlive = () => !isDead;
    kill = () => {
      isDead = true;
    };
    const lives = isAlive;
    const born = await openLife({ clock: mortalClock(clock, lives), disk, agents, step, fetch: fake.fetch });
    if (!lives()) return;
    born.store.onChange('pools', (after, _before, id) => after && names.set(id, after.name));
    for (const pool of born.store.view.pools.all()) names.set(pool.id, pool.name);
    life = born;
  }

  await start();
  return {
    clock,
    fake,
    agents,
    get life() {
      return life as Life;
    },
    counts,
    machines: () =>
      fake
        .machines(REGION)
        .flatMap((one) => (isOver(one, clock.now()) ? [] : [one.tags.get('muster:launch') ?? one.id])),
    poolId: (name) => [...(life?.store.view.pools.by('name', name) ?? [])][0]?.id,
  };
}

interface LifeParts {
  readonly clock: Clock;
  readonly disk: Disk;
  readonly agents: SimAgents;
  step<T>(at: Point['at'], act: () => Promise<T>): Promise<T>;
  readonly fetch: typeof fetch;
}

async function openLife({ clock, disk, agents, step, fetch }: LifeParts): Promise<Life> {
  const driver = memoryDriver(disk);
  const store = await openStore(
    {
      ...driver,
      write: (changes) => (changes.length === 0 ? driver.write(changes) : step('write', () => driver.write(changes))),
    },
    () => {},
  );
  const random = seededRandom(disk.epoch);
  const log = silentLog;
  const base = { store, clock, random, log };
  const journal = startJournal(base);
  const context: Context = {
    cluster: store.cluster,
    clock,
    random,
    log,
    fetch: (input, init) => step('call', () => fetch(input, init)),
    dataDir: '/nowhere',
    agentCommand: [],
  };
  const clouds = openClouds({ kinds: aws.backends, context, ...base });
  startPools({
    ...base,
    journal,
    readPool: (text, { trust }) => {
      const read = readPool(text, { kinds: aws.backends, trust });
      return read.problems ? { problems: read.problems } : { spec: read.spec };
    },
    sources: [await openSource(context)],
    redact: (text) => text,
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
    install: () => ({ url: 'https://muster:8081/agent/agent.tar.gz', sha256: 'ab12' }),
  });
  const sessions = simSessions({ store, clock, agents });
  agents.connectTo({ join: workers.join, leave: workers.leave, joined: sessions.joined, finished: sessions.finished });
  return { store, sessions };
}

async function openSource(context: Context): Promise<OpenedSource> {
  const config = aws.sources.aws.config.parse({ region: REGION, configPrefix: PREFIX });
  const source = await aws.sources.aws.open(config, context);
  return { id: `aws:${REGION}:${PREFIX}`, kind: 'aws', place: PREFIX, source, everyMs: 20_000, trust: 'foreign' };
}
