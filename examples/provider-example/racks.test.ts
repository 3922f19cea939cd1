import { contextWithLog } from 'muster/src/conformance/backend-world.ts';
import { testNodeGroups } from 'muster/src/conformance/node-groups.ts';
import type { NodeGroupsWorld } from 'muster/src/conformance/node-groups-world.ts';
import { systemClock } from 'muster/src/core/clock.ts';
import type { FaultKind } from 'muster/src/core/fault.ts';
import { systemRandom } from 'muster/src/core/random.ts';
import { openDepot, PAGE } from './depot.ts';
import provider from './index.ts';

const { depot_racks } = provider.nodeGroups;
const url = 'http://depot.internal';
const WORDS: Readonly<Partial<Record<FaultKind, string>>> = { denied: 'not_allowed', throttled: 'too_fast' };

async function openWorld(): Promise<NodeGroupsWorld> {
  const depot = openDepot();
  const { rackRoom, failureRules } = depot;
  const parts = { clock: systemClock, random: systemRandom, fetch: depot.fetch, dataDir: '/nowhere', agentCommand: [] };
  const named = (name: string) => rackRoom.racks.filter((rack) => rack.name === name);
  const livingIn = (name: string) => named(name).flatMap(({ machines }) => [...machines.values()]);
  let serial = 0;
  return {
    open: () => depot_racks.open(depot_racks.config.parse({ url }), contextWithLog({ cluster: 'c', ...parts }, [])),
    settle: () => new Promise(setImmediate),
    during: (call) => call,
    async addGroup(name, size, { elsewhere = false } = {}) {
      const rack = rackRoom.add(elsewhere ? 'south' : 'north', name);
      for (let count = 0; count < size; count++) {
        const machine = `${name}-before-${serial++}`;
        rack.machines.set(machine, { name: machine, lentAtMs: Date.now() });
      }
    },
    existing: (name) => livingIn(name).map((machine) => machine.name),
    sizeOf: (name) => livingIn(name).length,
    stock(left) {
      rackRoom.stock = left;
    },
    holdQueue() {},
    grant() {},
    loseNextReply: () => void Object.assign(failureRules, { loseReply: true }),
    fail: (kind) => void Object.assign(failureRules, { error: WORDS[kind] }),
    hang: () => void Object.assign(failureRules, { hang: true }),
    close: async () => {},
  };
}

const NO_QUEUE = 'the depot has no queue';
testNodeGroups('depot_racks', {
  kind: depot_racks,
  openWorld,
  gpu: 'nvidia.com/gpu',
  many: PAGE * 2 + 1,
  faults: Object.keys(WORDS) as FaultKind[],
  excuses: {
    queues: NO_QUEUE,
    cancels: NO_QUEUE,
    'others size it': 'nothing else sizes a rack',
    creates: 'racks are bolted to the floor',
    drops: 'racks are bolted to the floor',
  },
});
