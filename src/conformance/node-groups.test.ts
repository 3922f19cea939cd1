import { describe, expect, it } from 'vitest';
import { during } from '#core/testing/during.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { livingMachines, type MemoryCloudStyle, type MemoryGroup, openMemoryCloud } from './memory-node-cloud.ts';
import {
  type MemoryMood,
  memoryNodeGroups,
  memoryNodeGroupsKind,
  type NodeGroupsMistakes,
} from './memory-node-groups.ts';
import { brokenNodeGroupLaws, testNodeGroups } from './node-groups.ts';
import type { NodeGroupsHarness, NodeGroupsLawId, NodeGroupsWorld } from './node-groups-world.ts';

function openWorld(style: MemoryCloudStyle, mistakes: NodeGroupsMistakes): NodeGroupsWorld {
  const clock = new VirtualClock();
  const cloud = openMemoryCloud(clock);
  const mood: MemoryMood = { isReplyLost: false, isHanging: false };
  const named = (name: string): MemoryGroup[] => [...cloud.groups.values()].filter((group) => group.name === name);
  return {
    open: async () => memoryNodeGroups(cloud, style, mood, mistakes),
    settle: () => clock.advance(5_000),
    during: (running) => during(clock, running),
    async addGroup(name, size, { elsewhere = false } = {}) {
      const group = cloud.addGroup(name, elsewhere ? 'zone-b' : 'zone-a');
      for (let count = 0; count < size; count++) cloud.addRunning(group);
    },
    existing: (name) => named(name).flatMap((group) => livingMachines(group).map((machine) => machine.name)),
    sizeOf: (name) =>
      named(name).reduce((sum, group) => {
        const size = style === 'counts' ? group.size : livingMachines(group).length + group.requests.size;
        return sum + size;
      }, 0),
    stock(left) {
      cloud.stock = left;
    },
    holdQueue() {
      cloud.isQueueHeld = true;
    },
    grant: () => cloud.grant(),
    loseNextReply() {
      mood.isReplyLost = true;
    },
    autoscale(name) {
      for (const group of named(name)) group.isAutoscaled = true;
    },
    fail(fault) {
      mood.fault = fault;
    },
    hang() {
      mood.isHanging = true;
    },
    async close() {},
  };
}

const harnessOf = (style: MemoryCloudStyle, mistakes: NodeGroupsMistakes = {}): NodeGroupsHarness => ({
  kind: memoryNodeGroupsKind(() => memoryNodeGroups(openMemoryCloud(new VirtualClock()), style, NO_MOOD, mistakes)),
  openWorld: async () => openWorld(style, mistakes),
  gpu: 'nvidia.com/gpu',
  faults: ['unavailable', 'denied', 'throttled'],
  excuses: style === 'counts' ? { queues: 'it has no queue', cancels: 'it has no queue' } : {},
});
const NO_MOOD: MemoryMood = { isReplyLost: false, isHanging: false };

testNodeGroups('a cloud in memory that names machines', harnessOf('names'));
testNodeGroups('a cloud in memory that only counts', harnessOf('counts'));

const MISTAKES: readonly (readonly [keyof NodeGroupsMistakes, MemoryCloudStyle, NodeGroupsLawId])[] = [
  ['findsNearest', 'names', 'finds'],
  ['namesNoCandidates', 'names', 'finds'],
  ['freshIds', 'names', 'finds'],
  ['takesFirst', 'names', 'names both'],
  ['coresInTemplate', 'names', 'describes'],
  ['templateOfMachinesAlone', 'names', 'describes'],
  ['firstPageOnly', 'names', 'lists all'],
  ['ownNames', 'names', 'grows'],
  ['growsAgain', 'names', 'grows once'],
  ['growsAgain', 'counts', 'lost reply'],
  ['setsSize', 'counts', 'never shrinks'],
  ['hidesStockOut', 'names', 'stock-out'],
  ['hidesStockOut', 'counts', 'stock-out'],
  ['hidesQueue', 'names', 'queues'],
  ['hidesEnd', 'names', 'queues'],
  ['cancelKeepsSize', 'names', 'cancels'],
  ['cancelKeepsSize', 'counts', 'stock-out'],
  ['cancelFailsAgain', 'names', 'cancels'],
  ['shrinksByCount', 'counts', 'removes'],
  ['recreates', 'counts', 'removes'],
  ['removeFailsAgain', 'names', 'removes once'],
  ['lowersAgain', 'counts', 'removes once'],
  ['removesForeign', 'names', 'only its own'],
  ['ignoresAutoscaler', 'names', 'others size it'],
  ['takesOver', 'names', 'creates'],
  ['dropsFull', 'names', 'drops'],
  ['everyFaultIsInternal', 'names', 'typed faults'],
  ['ignoresAbort', 'names', 'aborted'],
];

describe('the suite', () => {
  it.each(MISTAKES)(
    'catches groups with the mistake %s in the style %s, by the law "%s"',
    async (mistake, style, law) => {
      const broken = await brokenNodeGroupLaws(harnessOf(style, { [mistake]: true }));

      expect([...broken.keys()]).toContain(law);
    },
  );

  it.each(['names', 'counts'] as const)(
    'finds nothing wrong with groups in the style %s that have none',
    async (style) => {
      expect(await brokenNodeGroupLaws(harnessOf(style))).toEqual(new Map());
    },
  );
});
