import { describe, expect, it } from 'vitest';
import { freedOf, freedOfAll, mostFreeable } from '../testing/freeable.ts';
import { classOf, GPU, HOSTNAME, ROOMY, roomOf } from '../testing/objects.ts';
import { openEmptying } from './emptying.ts';
import { addTo } from './room.ts';

const aPod = (key: string, gpus: number, spec: object = {}) => ({
  key,
  class: classOf({ gpus, labels: { app: 'web' }, spec: { ...spec } }),
});
type Pods = ReturnType<typeof aPod>[];

/** One node for each list of pods. */
function cluster(...load: readonly Pods[]) {
  const nodes = load.map((pods, at) => {
    const room = roomOf(`n${at}`, { free: { ...ROOMY } });
    for (const pod of pods) addTo(room, pod.class);
    return { room, pods };
  });
  const emptying = openEmptying({ rooms: nodes.map(({ room }) => room), others: [], gpu: GPU });
  const empty = (at: number) => {
    const { room, pods } = nodes[at] ?? { room: roomOf('none'), pods: [] };
    return emptying.empty(room, pods)?.key;
  };
  return { empty, nodes, placeOf: (pod: Pods[number]) => emptying.placeOf(pod)?.name };
}

describe('emptying a node', () => {
  it('moves each pod where the least stays free', () => {
    const [one, four] = [aPod('one', 1), aPod('four', 4)];
    const { empty, placeOf } = cluster([one, four], [aPod('a', 4)], [aPod('b', 7)], [aPod('c', 3)]);

    expect(empty(0)).toBeUndefined();
    expect([placeOf(four), placeOf(one)]).toEqual(['n1', 'n2']);
  });

  it('moves the pods on that came from a node that was emptied before', () => {
    const [first, second] = [aPod('first', 1), aPod('second', 2)];
    const { empty, placeOf } = cluster([first], [second], [aPod('a', 5)]);

    expect([empty(0), empty(1)]).toEqual([undefined, undefined]);
    expect([placeOf(first), placeOf(second)]).toEqual(['n2', 'n2']);
  });

  it('changes nothing where one pod has no place, and names it', () => {
    const [small, large] = [aPod('small', 1), aPod('large', 6)];
    const { empty, placeOf, nodes } = cluster([small, large], [aPod('a', 4)]);

    expect(empty(0)).toBe('large');
    expect(placeOf(small)).toBeUndefined();
    expect(nodes.map(({ room }) => room.free[GPU])).toEqual([1, 4]);
    // It still takes pods itself.
    expect(empty(1)).toBe('a');
  });

  it('keeps pods apart that want to be', () => {
    const terms = [{ topologyKey: HOSTNAME, labelSelector: { matchLabels: { app: 'web' } } }];
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
    const apart = (key: string) => aPod(key, 1, { affinity });

    expect(cluster([apart('a')], [apart('b')]).empty(0)).toBe('a');
    expect(cluster([aPod('a', 1)], [aPod('b', 1)]).empty(0)).toBeUndefined();
  });
});

describe('emptying all nodes that can be, by the GPUs in use', () => {
  it('frees 13 of 21 nodes of a cluster by the pods of those 13 alone', () => {
    const ones = (count: number) => Array.from({ length: count }, () => 1);
    const load = [[8], [8], [5], [5], [4], [4], [3], [3]].concat(
      Array.from({ length: 7 }, () => ones(2)),
      Array.from({ length: 6 }, () => ones(1)),
    );

    expect(freedOf(load)).toBe(13);
  });

  it('frees at least 97 percent of what trying all sets of nodes finds', () => {
    const { freed, possible } = freedOfAll(150);

    expect(possible).toBeGreaterThan(200);
    expect(freed / possible).toBeGreaterThanOrEqual(0.97);
  });

  it('is measured against a search that is exact', () => {
    expect(mostFreeable([[8], [8]])).toBe(0);
    expect(mostFreeable([[1], [1], [1]])).toBe(2);
    // Not the fullest and not the emptiest: only both nodes of five GPUs fit beside the others.
    expect(mostFreeable([[3], [3], [5], [5]])).toBe(2);
  });
});
