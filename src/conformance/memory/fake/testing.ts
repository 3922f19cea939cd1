// How the suites get at the cloud in memory.

import type { FaultKind } from '#core/fault.ts';
import type { Backend, Mark } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { during } from '#core/testing/during.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { noLimits } from '#fakes/limits.ts';
import type { SliceCloud, SliceMachine } from '#sim/slice/cloud.ts';
import { type BackendHarness, type BackendWorld, contextWithLog } from '../../../conformance/backend-world.ts';
import type { ComputerSuite } from '../../../conformance/computers-world.ts';
import type { SliceSuite } from '../../../conformance/slice-world.ts';
import { openBackend } from '../backend.ts';
import { MachineConfig } from '../config.ts';
import provider from '../index.ts';
import type { Mistakes } from '../mistakes.ts';
import { bootable, type FakeMachine, type FakeMemory, type MemoryCall, openFakeMemory } from './cloud.ts';

const PAGE = 5;
const SETTLE_MS = 3_000;
/** How the cloud says it. */
const CODES: Readonly<Partial<Record<FaultKind, string>>> = {
  denied: 'not_allowed',
  exhausted: 'out_of_stock',
  quota: 'over_quota',
  throttled: 'too_many_requests',
};
const isLaterPage = ({ page }: MemoryCall): boolean => page !== undefined;
const FOR_EVER = 1e9;

function openWorld(mistakes: Mistakes, some: object): BackendWorld {
  const clock = new VirtualClock();
  const fake = openFakeMemory({ clock, pageSize: PAGE });
  const lines: string[] = [];
  const parts = { clock, random: systemRandom, fetch: fake.fetch, dataDir: '/nowhere', agentCommand: [] };
  const open = (cluster: string, config: object): Promise<Backend> =>
    openBackend(MachineConfig.parse({ ...some, ...config }), contextWithLog({ cluster, ...parts }, lines), mistakes);
  const { failureRules } = fake;
  return {
    open: (cluster) => open(cluster, {}),
    openParking: (cluster) => open(cluster, { parked: 1 }),
    openWatching: (cluster) => open(cluster, { watches: true }),
    existing: async () =>
      fake.machines
        .filter((one) => !['deleting', 'failed', 'gone'].includes(fake.stateOf(one)))
        .map(({ name }) => name),
    during: (running) => during(clock, running),
    settle: () => clock.advance(SETTLE_MS),
    logged: () => lines.join('\n'),
    loseReply: () => void failureRules.add({ action: 'create', what: { kind: 'lost reply' } }),
    breakListing: () =>
      void failureRules.add({ when: isLaterPage, what: { kind: 'error', code: 'broken', status: 500 } }),
    hideFromListings() {
      fake.behaviour.lagMs = Number.POSITIVE_INFINITY;
    },
    hang: () => void failureRules.add({ times: FOR_EVER, what: { kind: 'hang' } }),
    fail: (kind) =>
      void failureRules.add(
        kind === 'unavailable'
          ? { action: 'create', what: { kind: 'garbage' } }
          : { action: 'create', what: { kind: 'error', code: CODES[kind] ?? 'unknown', status: 409 } },
      ),
    failLate: () => fake.refuseLate(1),
    async reached({ host, port }) {
      const found = fake.machines.find((one) => one.address === host && fake.stateOf(one) === 'running');
      return found && { name: found.name, port };
    },
    close: async () => {},
  };
}

/** For the laws of a backend; with mistakes, some of them are broken. */
export function memoryCloud(mistakes: Mistakes = {}, config: object = {}): BackendHarness {
  return {
    kind: provider.backends.memory_machine,
    openWorld: async () => openWorld(mistakes, config),
    many: PAGE * 2 + 1,
    hasEndpoints: true,
    endsMachines: true,
    faults: ['denied', 'exhausted', 'quota', 'throttled', 'unavailable'],
  };
}

function machineOf(machine: FakeMachine, cloud: FakeMemory): SliceMachine {
  const { name, labels } = machine;
  const isWhole = labels.cluster && labels.owner && labels.shape && labels.use;
  const booted = bootable(machine, cloud);
  return {
    ...booted,
    name,
    mark: isWhole ? (labels as Mark) : undefined,
    exists: (nowMs) => booted.state(nowMs) === 'running' || isComing(machine, nowMs),
  };
}

const isComing = ({ timeline }: FakeMachine, nowMs: number): boolean =>
  timeline.findLast(({ atMs }) => atMs <= nowMs)?.state === 'creating';

const fakesOf = new WeakMap<object, FakeMemory>();

/** For the laws of the slice, likewise. */
export function memorySlice(mistakes: Mistakes = {}, config: object = {}): SliceSuite {
  const kind = provider.backends.memory_machine;
  const broken = {
    ...kind,
    boots: mistakes.forgetsBoots ? undefined : kind.boots,
    open: (config: MachineConfig, context: Parameters<typeof kind.open>[1]) => openBackend(config, context, mistakes),
  };
  return {
    provider: { ...provider, backends: { memory_machine: broken } },
    backend: { kind: 'memory_machine', config: { ...config } },
    openCloud({ isLimited, ...options }) {
      const limit = { bucket: 'calls', size: 20, perSecond: 20 };
      const fake = openFakeMemory({
        ...options,
        limits: isLimited ? () => [{ limit, count: 1 }] : noLimits,
      });
      const cloud: SliceCloud = {
        fake,
        machines: () => fake.machines.map((machine) => machineOf(machine, fake)),
        watch: (changed) => void fake.watch((machine) => changed(machineOf(machine, fake))),
        async addForeign(cluster) {
          const labels: readonly Partial<Mark>[] = [
            {},
            { cluster },
            { cluster: 'cluster9', use: 'worker', owner: 'p', shape: 's' },
          ];
          return labels.map((each) => fake.add(each).id);
        },
        refuseLate: fake.refuseLate,
      };
      fakesOf.set(cloud, fake);
      return cloud;
    },
    creation: 'create',
    removals: ['delete', 'suspend'],
    mostCalls: { creation: 1, removal: 20 },
    laterPage: { when: isLaterPage, what: { kind: 'error', code: 'broken', status: 500 } },
    denied: { kind: 'error', code: 'not_allowed', status: 403 },
    named: 'memory.internal',
    forbidden: [['a variable', { url: `http://\${HOST}` }, 'url']],
  };
}

const ask = (cloud: SliceCloud, action: string, name: string): Promise<unknown> =>
  cloud.fake.fetch(`https://memory.internal/machines/${action}`, {
    method: 'POST',
    body: JSON.stringify({ names: [name] }),
  });

/** For the laws of a computer, likewise. */
export function memoryComputers(mistakes: Mistakes = {}, config: object = {}): ComputerSuite {
  const fakeOf = (cloud: SliceCloud): FakeMemory => fakesOf.get(cloud) as FakeMemory;
  return {
    ...memorySlice(mistakes, config),
    request: () => ({ backend: { memory_machine: { ...config } } }),
    held: (cloud) => fakeOf(cloud).held(),
    shown: (cloud) => [JSON.stringify(cloud.fake.calls), JSON.stringify(fakeOf(cloud).machines)],
    refusals: [
      ['exhausted', { kind: 'error', code: 'out_of_stock', status: 409 }],
      ['quota', { kind: 'error', code: 'over_quota', status: 409 }],
      ['denied', { kind: 'error', code: 'not_allowed', status: 403 }],
    ],
    vanish: async (cloud, { name }) => void (await ask(cloud, 'delete', name)),
    stop: async (cloud, { name }) => void (await ask(cloud, 'suspend', name)),
    endsItself: true,
  };
}
