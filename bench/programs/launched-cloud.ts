// A simulated cloud, in a program of its own: what it works is not counted among what we work.
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { RecordedCall } from '#fakes/answering.ts';
import { listenGrpc } from '#fakes/listen-grpc.ts';
import { serveFake } from '#fakes/serve.ts';
import { publishedLimits as azureLimits, openFakeAzure } from '../../src/providers/azure/fake/fake-azure.ts';
import { openFakeDigitalOcean, publishedLimits as tokenLimits } from '../../src/providers/digitalocean/fake/cloud.ts';
import { stateAt as stateOfDroplet } from '../../src/providers/digitalocean/fake/droplet.ts';
import { isGone } from '../../src/providers/gcp/fake/compute/instance.ts';
import { publishedLimits as projectLimits } from '../../src/providers/gcp/fake/compute/state.ts';
import { openFakeGcp } from '../../src/providers/gcp/fake/fake-gcp.ts';
import { serveGcp } from '../../src/providers/gcp/fake/serve.ts';
import { stateAt as stateOfBid } from '../../src/providers/mithril/fake/bid.ts';
import { someLimits as bidLimits, openFakeMithril } from '../../src/providers/mithril/fake/cloud.ts';
import { someLimits as grpcLimits, openFakeNebius } from '../../src/providers/nebius/fake/cloud.ts';
import { existsAt } from '../../src/providers/nebius/fake/instance.ts';
import type { LaunchCloud } from '../launch-measures.ts';
import { type Calls, serveCalls } from '../parts/program.ts';

export interface HeardOfCloud {
  /** By action. */
  readonly calls: ReadonlyMap<string, number>;
  /** How many of them were refused. */
  readonly refused: number;
  /** Machines that exist now. */
  readonly machines: number;
}

interface Opened {
  readonly address: string;
  readonly calls: readonly RecordedCall[];
  machines(): number;
}

const clock = systemClock;

const OPENERS: Readonly<Record<LaunchCloud, () => Promise<Opened>>> = {
  async gcp() {
    const fake = openFakeGcp(clock);
    const { compute } = fake.world;
    compute.limits = projectLimits;
    const { address } = await serveGcp(fake, {});
    return { ...fake, address, machines: () => compute.instances.filter((one) => !isGone(one, clock.now())).length };
  },
  async azure() {
    const fake = openFakeAzure(clock, { limits: azureLimits, pageSize: 1_000 });
    fake.world.isOpen = true;
    const { address } = await serveFake(fake.handle, { port: 0 });
    return { ...fake, address, machines: () => fake.world.compute.listed(undefined).length };
  },
  async nebius() {
    const fake = openFakeNebius({ clock, limits: grpcLimits });
    const { address } = await listenGrpc(0, fake.handle);
    return { ...fake, address, machines: () => fake.instances.filter((one) => existsAt(one, clock.now())).length };
  },
  async digitalocean() {
    const fake = openFakeDigitalOcean({ clock, limits: tokenLimits });
    const { address } = await serveFake(fake.handle, { port: 0 });
    const isThere = (one: (typeof fake.droplets)[number]): boolean => stateOfDroplet(one, clock.now()) !== 'gone';
    return { ...fake, address, machines: () => fake.droplets.filter(isThere).length };
  },
  async mithril() {
    const fake = openFakeMithril({ clock, limits: bidLimits });
    const { address } = await serveFake(fake.handle, { port: 0 });
    const isThere = (one: (typeof fake.bids)[number]): boolean => stateOfBid(one, clock.now()) !== 'Terminated';
    return { ...fake, address, machines: () => fake.bids.filter(isThere).length };
  },
};

let opened: Opened | undefined;

const calls = {
  /** Answers its address. */
  async open(cloud: LaunchCloud): Promise<string> {
    opened = await OPENERS[cloud]();
    return opened.address;
  },
  take(_nothing: undefined): HeardOfCloud {
    if (!opened) throw new Fault('internal', 'No cloud is open.');
    const byAction = Map.groupBy(opened.calls, ({ action }) => action);
    return {
      calls: new Map([...byAction].map(([action, those]) => [action, those.length])),
      refused: opened.calls.filter(({ outcome }) => outcome !== 'ok' && outcome !== 'open').length,
      machines: opened.machines(),
    };
  },
} satisfies Calls;

export type LaunchedCloudCalls = typeof calls;

serveCalls(calls);
