// The laws of what a launch wants beside an agent: a port that can be reached, and an end.
import { MINUTE_MS } from '#core/clock.ts';
import type { Machine } from '#core/provider.ts';
import { type BackendLaw, list, make } from './backend-laws.ts';
import { waitFor } from './backend-life-laws.ts';
import { aLaunch, aLaunchWith, type BackendWorld, lawName, OURS } from './backend-world.ts';
import { demand } from './demand.ts';

// One each: several machines of some kinds share the ports of one host.
const PORTS = [8_000, 8_001];
const LIFE_MS = 5 * MINUTE_MS;
const MOST_SETTLES = 200;

const endpointsOf = ({ endpoints = [] }: Machine): NonNullable<Machine['endpoints']> => endpoints;

async function mustLead(world: BackendWorld, { name, endpoints = [] }: Machine, port: number): Promise<void> {
  demand(endpoints.length > 0, `${name} runs with the port ${port}, and is listed without an endpoint`);
  for (const endpoint of endpoints) {
    const reached = await world.reached?.(endpoint);
    const place = `${endpoint.host}:${endpoint.port}`;
    demand(reached, `${place} of ${name} reaches nothing`);
    demand(
      reached?.name === name && reached.port === port,
      `${place} of ${name} is port ${reached?.port} of ${reached?.name}`,
    );
  }
}

/** Machines with a port each, and one without. */
async function checkEndpoints(world: BackendWorld): Promise<void> {
  demand(world.reached, 'the harness must offer reached, or not say that there are endpoints');
  const backend = await world.open(OURS);
  const wanted = new Map<string, number | undefined>();
  for (const port of PORTS) {
    const [name = ''] = await make(world, backend, aLaunchWith({ port }, lawName(`port ${port}`)));
    wanted.set(name, port);
  }
  const [bare = ''] = await make(world, backend, aLaunch(OURS, [lawName('no port')]));
  wanted.set(bare, undefined);
  const isUp = ({ state }: Machine): boolean => state === 'running';
  for (const machine of await waitFor(world, backend, (all) => all.every(isUp))) {
    const port = wanted.get(machine.name);
    if (port !== undefined) await mustLead(world, machine, port);
    else demand(endpointsOf(machine).length === 0, `${machine.name} has no port, and is listed with an endpoint`);
  }
}

export const REACH_LAWS: readonly BackendLaw[] = [
  {
    id: 'endpoints',
    name: 'if it has endpoints, shows for each machine that runs where the port of its launch is reached, and nothing without a port',
    async check(world, { hasEndpoints = false }) {
      if (hasEndpoints) return checkEndpoints(world);
      const backend = await world.open(OURS);
      await make(world, backend, aLaunchWith({ port: PORTS[0] }, lawName('port')));
      const found = (await list(world, backend)).flatMap(endpointsOf);
      demand(found.length === 0, 'it shows endpoints, and its harness does not say so');
    },
  },
  {
    id: 'ends',
    name: 'makes a launch with an end once, however late it is repeated; a cloud that ends machines by itself does so then',
    async check(world, { endsMachines = false }) {
      const launch = aLaunchWith({ endsAt: LIFE_MS }, lawName('end'));
      for (const _again of [1, 2, 3]) await make(world, await world.open(OURS), launch);
      demand((await world.existing()).length === 1, 'a launch with an end that is repeated must make nothing more');
      if (!endsMachines) return;
      const backend = await world.open(OURS);
      const [machine] = await list(world, backend);
      const lifeMs = (machine?.endsAt ?? 0) - (machine?.createdAt ?? 0);
      const isTold = lifeMs >= LIFE_MS && lifeMs < LIFE_MS + MINUTE_MS;
      demand(isTold, 'the listing does not tell when the cloud takes the machine away');
      let settles = 0;
      while (settles < MOST_SETTLES && (await world.existing()).length > 0) {
        await world.settle();
        settles += 1;
      }
      demand(settles < MOST_SETTLES, 'a machine is there long after its end');
      demand((await list(world, backend)).length === 0, 'a machine that the cloud took away is listed');
    },
  },
];
