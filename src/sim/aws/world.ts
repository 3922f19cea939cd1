// The slice from Parameter Store to EC2 on a virtual clock: a server that may die at any write or call, and the
// simulated AWS, which goes on.
import { DescribeInstancesCommand, EC2Client } from '@aws-sdk/client-ec2';
import { GetParametersByPathCommand, SSMClient } from '@aws-sdk/client-ssm';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { emptyDisk } from '#store/memory.ts';
import { type Instance, isOver } from '../../providers/aws/fake/ec2/instance.ts';
import { type FakeAws, type FakeAwsOptions, openFakeAws } from '../../providers/aws/fake/fake-aws.ts';
import { requestHandler } from '../../providers/aws/http.ts';
import { mortalClock } from '../mortal-clock.ts';
import { type SimAgents, simAgents } from '../part/agents.ts';
import { type Life, openLife, type SourceEntry } from './life.ts';
import { awsMachines } from './machines.ts';

export const REGION = 'us-west-2';
export const PREFIX = '/velda/pools/';
const BOOT_MS = 2_000;

/** Where the process dies: at its nth write or call to AWS, before or after that was done. */
export interface Point {
  readonly at: 'write' | 'call';
  readonly nth: number;
  readonly isDone: boolean;
}

export interface AwsWorldOptions extends Partial<Omit<FakeAwsOptions, 'clock'>> {
  /** What the file names at the start; one source where not said. */
  readonly sources?: readonly SourceEntry[];
  /** A server of another cluster on the same account and clock. */
  readonly beside?: Pick<AwsWorld, 'clock' | 'fake'>;
  readonly cluster?: string;
  readonly seed?: number;
}

export interface AwsWorld {
  readonly clock: VirtualClock;
  readonly fake: FakeAws;
  readonly agents: SimAgents;
  readonly life: Life;
  /** All writes and calls of all lives so far. */
  readonly counts: { write: number; call: number };
  /** The instances of this cluster that AWS itself knows of, past any client. */
  instances(): Instance[];
  /** Their launches. */
  machines(): string[];
  poolId(name: string): string | undefined;
  /** As when the operator's file has changed; later lives have it too. */
  setSources(entries: readonly SourceEntry[]): Promise<void>;
  /** The process dies, and another starts soon after. */
  restart(): void;
}

const never = (): Promise<never> => new Promise(() => {});
const DOWN_MS = 5_000;

function openAws(options: AwsWorldOptions): Pick<AwsWorld, 'clock' | 'fake'> {
  const clock = new VirtualClock();
  const behaviour = { bootMs: BOOT_MS, terminateMs: 3_000, largestPage: 1, listLagMs: 2_000, ...options.behaviour };
  return { clock, fake: openFakeAws({ random: seededRandom(1), ...options, clock, behaviour }) };
}

/** The SDK loads some of its parts at the first call; on a virtual clock hours would pass meanwhile. */
async function loadSdk(clock: VirtualClock): Promise<void> {
  await Promise.all([
    import('../../providers/aws/launch-template/backend.ts'),
    import('../../providers/aws/parameters/source.ts'),
  ]);
  const { fetch } = openFakeAws({ clock, random: seededRandom(1) });
  const settings = { region: REGION, requestHandler: requestHandler(fetch) };
  await new EC2Client(settings).send(new DescribeInstancesCommand());
  await new SSMClient(settings).send(new GetParametersByPathCommand({ Path: PREFIX }));
}

export async function openAwsWorld(point?: Point, options: AwsWorldOptions = {}): Promise<AwsWorld> {
  const { clock, fake } = options.beside ?? openAws(options);
  const disk = emptyDisk(options.cluster);
  const names = new Map<string, string>();
  const isOurs = ({ tags }: Instance): boolean => tags.get('muster:cluster') === disk.cluster;
  const machines = awsMachines(fake, { clock, isOurs });
  const agents = simAgents({ clock, cloud: machines, slots: 1, poolName: (id) => names.get(id) ?? '' });
  const counts = { write: 0, call: 0 };
  let sources = options.sources ?? [{ region: REGION, prefix: PREFIX }];
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
    const parts = { disk, agents, sources, step, fetch: fake.fetch, seed: options.seed ?? 0 };
    const born = await openLife({ clock: mortalClock(clock, lives), ...parts });
    if (!lives()) return;
    born.store.onChange('pools', (after, _before, id) => after && names.set(id, after.name));
    for (const pool of born.store.view.pools.all()) names.set(pool.id, pool.name);
    life = born;
  }

  await loadSdk(clock);
  await start();
  const world: AwsWorld = {
    clock,
    fake,
    agents,
    get life() {
      return life as Life;
    },
    counts,
    instances: () => fake.machines(REGION).filter((one) => isOurs(one) && !isOver(one, clock.now())),
    machines: () => world.instances().map(({ tags, id }) => tags.get('muster:launch') ?? id),
    poolId: (name) => [...(life?.store.view.pools.by('name', name) ?? [])][0]?.id,
    async setSources(entries) {
      sources = entries;
      await life?.setSources(entries);
    },
    restart: die,
  };
  return world;
}
