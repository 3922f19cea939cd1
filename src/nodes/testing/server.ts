// The feature as a process has it: with a store, a gate and a journal, beside a cluster and a cloud of groups.
import type { Clouds } from '#clouds/clouds.ts';
import { openGate } from '#clouds/gate.ts';
import { knownKinds } from '#config/kinds.ts';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { Nodes } from '#core/node.ts';
import { isGroupRefusal, type NodeGroup, type NodeGroups } from '#core/node-group.ts';
import type { Context } from '#core/provider.ts';
import { type Random, seededRandom } from '#core/random.ts';
import type { Store } from '#core/store.ts';
import { startJournal } from '#journal/journal.ts';
import { type Disk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import type { Mortal } from '#store/testing/mortal.ts';
import { memoryNodeGroupsKind } from '../../conformance/memory-node-groups.ts';
import feature from '../index.ts';
import type { NodesSettings } from '../section.ts';

export interface NodeServerParts {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings?: Partial<NodesSettings>;
  readonly random?: Random;
  /** The clouds of pools. */
  readonly clouds: Pick<Clouds, 'offersOf' | 'cloudOf' | 'fault'>;
  /** What it sees of the cluster. */
  context(): Context;
  groups(): NodeGroups;
  /** It may die. */
  readonly self?: Mortal | undefined;
}

export interface NodeServer {
  readonly store: Store;
  readonly nodes: Nodes;
  isDead(): boolean;
  /** The feature ends, and starts anew on the same store. */
  stopFeature(): Promise<void>;
  startFeature(): void;
  /** After the feature. */
  close(): Promise<void>;
}

/** Its calls to the groups of a cloud are calls of that process. */
function mortalGroups(groups: NodeGroups, self: Mortal): NodeGroups {
  const mortal = <A extends unknown[], T>(name: string, isWrite: boolean, run: (...args: A) => Promise<T>) => {
    return (...args: A): Promise<T> => self.call({ name, isWrite }, () => run(...args));
  };
  const wrapped = (group: NodeGroup): NodeGroup => ({
    ...group,
    describe: mortal('describe', false, group.describe),
    grow: mortal('grow', true, group.grow),
    cancel: mortal('cancel', true, group.cancel),
    remove: mortal('remove', true, group.remove),
  });
  return {
    ...groups,
    find: mortal('find', false, async (...args: Parameters<NodeGroups['find']>) => {
      const found = await groups.find(...args);
      return new Map([...found].map(([name, one]) => [name, isGroupRefusal(one) ? one : wrapped(one)]));
    }),
  };
}

export async function openNodeServer(parts: NodeServerParts): Promise<NodeServer> {
  const { disk, log, settings = {}, self, random = seededRandom(7) } = parts;
  const clock = self?.clock(parts.clock) ?? parts.clock;
  const driver = memoryDriver(disk);
  const store = await openStore(self?.driver(driver) ?? driver, (fault) => {
    throw fault;
  });
  const base = { store, clock, random, log };
  const journal = startJournal(base);
  const groups = (): NodeGroups => (self ? mortalGroups(parts.groups(), self) : parts.groups());
  const kinds = knownKinds([
    { id: 'memory', title: 'In memory', nodeGroups: { memory: memoryNodeGroupsKind(groups) } },
  ]);
  const wanted: NodesSettings = { accounts: [{ kind: 'memory', config: {}, groups: ['*'] }], ...settings };

  function contextOf(): Context {
    const context = parts.context();
    if (!self) return context;
    const fetch = self.fetch(context.fetch);
    return { ...context, clock, fetch, fetchWith: () => fetch };
  }

  const start = () =>
    feature.start({
      ...base,
      ...{ journal, kinds, clouds: parts.clouds },
      gate: openGate(base),
      context: contextOf(),
      settings: wanted,
    });
  let running = start();

  return {
    store,
    get nodes() {
      return running;
    },
    isDead: () => self?.isDead() ?? false,
    stopFeature: () => running.stop(),
    startFeature() {
      running = start();
    },
    async close() {
      await journal.stop();
      await store.close();
    },
  };
}
