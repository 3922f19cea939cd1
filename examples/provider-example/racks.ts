import { Fault } from 'muster/src/core/fault.ts';
import type { GroupRefusal, NodeGroup, NodeGroups, NodeInstance } from 'muster/src/core/node-group.ts';
import type { Context, Outcome } from 'muster/src/core/provider.ts';
import type { RacksConfig } from './config.ts';
import { depotAt, everyPage, kindOf } from './depot-api.ts';

/** A rack of GPU machines as the depot shows it. */
interface Rack {
  readonly hall: string;
  readonly name: string;
  readonly gpus: number;
  readonly cores: number;
  readonly memoryGib: number;
}

interface Racked {
  /** The depot lends under a name once, so the name is the id. */
  readonly name: string;
  readonly lentAtMs: number;
  readonly state: 'booting' | 'up' | 'broken';
  readonly reason?: string;
}

const STATES = { booting: 'creating', up: 'running', broken: 'failed' } as const;

/** What the depot writes into the kubelet's flag `--provider-id`. */
const providerIdOf = ({ hall }: Rack, name: string): string => `depot://${hall}/${name}`;

function asInstance(rack: Rack, { name, lentAtMs, state, reason }: Racked): NodeInstance {
  const instance = { id: name, name, providerId: providerIdOf(rack, name), createdAt: lentAtMs, state: STATES[state] };
  if (reason === undefined) return instance;
  return { ...instance, trouble: { kind: kindOf(reason), message: `The depot says: ${reason}.`, final: true } };
}

export async function openRacks(config: RacksConfig, context: Context): Promise<NodeGroups> {
  const ask = depotAt(config, context);
  const pathOf = ({ hall, name }: Rack): string => `/racks/${hall}/${name}/machines`;
  const machinesOf = (rack: Rack, signal: AbortSignal) => everyPage<Racked>(ask, pathOf(rack), signal);

  async function giveBack(rack: Rack, name: string, signal: AbortSignal): Promise<Outcome> {
    try {
      await ask({ method: 'DELETE', path: `${pathOf(rack)}/${encodeURIComponent(name)}`, signal });
      return { name };
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind === 'unavailable') throw fault;
      return fault.kind === 'missing' ? { name } : { name, fault };
    }
  }

  const groupOf = (rack: Rack): NodeGroup => ({
    id: `depot:${config.url}:${rack.hall}:${rack.name}`,
    name: rack.name,
    async describe(signal) {
      const instances = (await machinesOf(rack, signal)).map((one) => asInstance(rack, one));
      const { gpus, cores, memoryGib } = rack;
      const allocatable = { cpu: cores * 1_000, memory: memoryGib * 2 ** 30, pods: 110, 'nvidia.com/gpu': gpus };
      return {
        wanted: instances.length,
        template: { allocatable, labels: {}, taints: [] },
        instances,
        requests: [],
        // So Muster names the machines, and a repeat of a growth asks for the same ones.
        baseName: rack.name,
      };
    },
    async grow({ names = [], runForMs }, signal) {
      if (runForMs !== undefined) throw new Fault('unsupported', 'The depot has no queue.');
      for (const name of names) await ask({ method: 'PUT', path: `${pathOf(rack)}/${name}`, body: {}, signal });
    },
    // What waits in a queue; the depot has none.
    cancel: async (ids) => ids.map((name) => ({ name })),
    async remove(ids, signal) {
      const outcomes: Outcome[] = [];
      for (const name of ids) outcomes.push(await giveBack(rack, name, signal));
      return outcomes;
    },
  });

  /** Of several racks of a name in different halls the one with a machine that is a node at hand. */
  async function choose(name: string, all: readonly Rack[], providerIds: readonly string[], signal: AbortSignal) {
    const fitting = all.filter((rack) => rack.name === name);
    const candidates = (fitting.length > 0 ? fitting : all).map((rack) => `${rack.name} in ${rack.hall}`).join(', ');
    const refuse = (reason: GroupRefusal['reason'], message: string, remedy: string) => ({ reason, message, remedy });
    const [only, second] = fitting;
    if (!only)
      return refuse('GroupNotFound', `There is no rack ${name}; there are: ${candidates}.`, 'Correct the name.');
    if (!second) return groupOf(only);
    const atHand: Rack[] = [];
    for (const rack of fitting) {
      const machines = await machinesOf(rack, signal);
      if (machines.some((one) => providerIds.includes(providerIdOf(rack, one.name)))) atHand.push(rack);
    }
    const [known, another] = atHand;
    if (known && !another) return groupOf(known);
    return refuse('GroupAmbiguous', `There are several racks ${name}: ${candidates}.`, 'Give each rack its own name.');
  }

  return {
    cloud: `depot:${config.url}`,
    async find({ names, providerIds }, signal) {
      const all = await everyPage<Rack>(ask, '/racks', signal);
      const found = new Map<string, NodeGroup | GroupRefusal>();
      for (const name of names) found.set(name, await choose(name, all, providerIds, signal));
      return found;
    },
  };
}
