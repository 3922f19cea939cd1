import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classOf, GPU, HOSTNAME, type PodDraft, ROOMY, roomOf, ZONE } from '../testing/objects.ts';
import { type Demand, demandsOf, pack } from './pack.ts';
import type { PodClass } from './pod-class.ts';
import { addTo, type PodRoom } from './room.ts';

const demand = (count: number, draft: PodDraft, prefix = 'p'): Demand => ({
  pod: classOf(draft),
  keys: Array.from({ length: count }, (_, at) => `${prefix}${at}`),
});

function filled(room: PodRoom, ...pods: readonly PodClass[]): PodRoom {
  for (const pod of pods) addTo(room, pod);
  return room;
}

/** New nodes like `roomOf`, as many as are asked for. */
function newNodes(most = Number.POSITIVE_INFINITY, labels: Record<string, string> = {}) {
  let count = 0;
  return () => (count < most ? [roomOf(`new-${++count}`, { kind: 'new', labels })] : []);
}

const place = (
  rooms: readonly PodRoom[],
  demands: readonly Demand[],
  openRooms = newNodes(),
  others: readonly PodRoom[] = [],
) => pack({ rooms, demands, gpu: GPU, openRooms, others });

const placesOf = (packing: ReturnType<typeof place>) => [...packing.placed].map(([key, { name }]) => [key, name]);

describe('packing', () => {
  it('fills what is there before it asks for a node, and then as few as possible', () => {
    const half = filled(roomOf('half'), classOf({ gpus: 4 }));

    const { opened, placed } = place([half], [demand(3, { gpus: 4 }), demand(8, { gpus: 1 }, 'small')]);

    expect(opened).toHaveLength(2);
    expect([...placed.values()].filter(({ name }) => name === 'half')).toHaveLength(1);
  });

  it('prefers ready nodes to tainted ones, and these to coming ones', () => {
    const rooms = [roomOf('coming', { kind: 'coming' }), roomOf('tainted', { kind: 'tainted' }), roomOf('ready')];

    const { placed } = place(rooms, [demand(3, { gpus: 8 })]);

    expect([...placed.values()].map(({ name }) => name)).toEqual(['ready', 'tainted', 'coming']);
  });

  it('looks at every resource', () => {
    const rooms = [roomOf('a', { free: { ...ROOMY, memory: 2 ** 29 } }), roomOf('b')];

    expect(placesOf(place(rooms, [demand(1, { gpus: 1 })]))).toEqual([['p0', 'b']]);
  });

  it('says which resource a pod lacks even on a new node', () => {
    const { unplaced, opened } = place([], [demand(2, { gpus: 16 })]);

    expect(unplaced).toEqual(
      new Map([
        ['p0', GPU],
        ['p1', GPU],
      ]),
    );
    expect(opened).toEqual([]);
  });

  it('keeps to the node selector, to required node affinity and to tolerations', () => {
    const terms = [{ matchExpressions: [{ key: 'disk', operator: 'Gt', values: ['9'] }] }];
    const affinity = {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
    };
    const rooms = [
      roomOf('bare'),
      roomOf('h100', { labels: { type: 'h100' } }),
      roomOf('disk', { labels: { disk: '10' } }),
      roomOf('tainted', { labels: { only: 'x' }, taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] }),
    ];
    const tolerations = [{ key: 'gpu', operator: 'Equal', value: 'yes' }];

    const packing = place(rooms, [
      demand(1, { gpus: 1, spec: { nodeSelector: { type: 'h100' } } }, 'a'),
      demand(1, { gpus: 1, spec: { affinity } }, 'b'),
      demand(1, { gpus: 1, spec: { nodeSelector: { only: 'x' }, tolerations } }, 'c'),
      demand(1, { gpus: 1, spec: { nodeSelector: { only: 'x' } } }, 'd'),
    ]);

    expect(Object.fromEntries(placesOf(packing))).toEqual({ a0: 'h100', b0: 'disk', c0: 'tainted' });
    expect(packing.unplaced.get('d0')).toBe('its node selector, affinity or tolerations');
  });

  it('counts init containers, sidecars and overhead as the scheduler does', () => {
    const gpus = (amount: number) => ({ resources: { requests: { [GPU]: String(amount) } } });
    const initContainers = [{ ...gpus(2), restartPolicy: 'Always' }, gpus(5)];

    const { requests } = classOf({ gpus: 1, spec: { initContainers, overhead: { cpu: '250m' } } });

    expect(requests).toMatchObject({ [GPU]: 7, cpu: 1_250, pods: 1 });
  });

  it('puts no two pods with one host port on a node', () => {
    const containers = [{ name: 'a', ports: [{ hostPort: 80 }], resources: { requests: { [GPU]: '1' } } }];

    const { opened } = place([roomOf('a')], [demand(3, { spec: { containers } })]);

    expect(opened).toHaveLength(2);
  });
});

const required = (kind: 'podAffinity' | 'podAntiAffinity', app: string, topologyKey: string) => ({
  affinity: {
    [kind]: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: { app } } }],
    },
  },
});

describe('rules about other pods', () => {
  it('a pod that wants none of its kind beside it gets a node of its own', () => {
    const apart = { gpus: 1, labels: { app: 'x' }, spec: required('podAntiAffinity', 'x', HOSTNAME) };

    expect(place([roomOf('a')], [demand(3, apart)]).opened).toHaveLength(2);
  });

  it('a pod that is there keeps away those that it does not want', () => {
    const guard = classOf({ gpus: 1, spec: required('podAntiAffinity', 'noisy', ZONE) });
    const there = filled(roomOf('a', { labels: { [ZONE]: 'z1' } }), guard);
    const rooms = [there, roomOf('b', { labels: { [ZONE]: 'z1' } }), roomOf('c', { labels: { [ZONE]: 'z2' } })];

    const packing = place(rooms, [demand(1, { gpus: 1, labels: { app: 'noisy' } })]);

    expect(placesOf(packing)).toEqual([['p0', 'c']]);
  });

  it('a pod that wants to be with others goes where they are, and only there', () => {
    const other = classOf({ gpus: 1, labels: { app: 'db' } });
    const rooms = [roomOf('a'), filled(roomOf('b'), other)];
    const drawn = { gpus: 4, spec: required('podAffinity', 'db', HOSTNAME) };

    const { placed, unplaced } = place(rooms, [demand(2, drawn)]);

    expect([...placed.values()].map(({ name }) => name)).toEqual(['b']);
    expect([...unplaced.values()]).toEqual(['its rules about other pods']);
  });

  it('the first of a group that wants to be together may be anywhere, the others follow it', () => {
    const together = { gpus: 4, labels: { app: 'ring' }, spec: required('podAffinity', 'ring', HOSTNAME) };

    const { placed, unplaced } = place([roomOf('a'), roomOf('b')], [demand(3, together)]);

    expect(new Set([...placed.values()].map(({ name }) => name)).size).toBe(1);
    expect(unplaced.size).toBe(1);
  });

  it('pods that must be spread are no more uneven than they allow', () => {
    const constraint = {
      topologyKey: ZONE,
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
    };
    const spread = { gpus: 1, labels: { app: 'web' }, spec: { topologySpreadConstraints: [constraint] } };
    const rooms = [
      roomOf('a', { labels: { [ZONE]: 'z1' } }),
      roomOf('b', { labels: { [ZONE]: 'z2' }, free: { ...ROOMY, [GPU]: 2 } }),
    ];

    const { placed, unplaced } = place(rooms, [demand(8, spread)], newNodes(0));

    const inA = [...placed.values()].filter(({ name }) => name === 'a').length;
    expect([inA, placed.size - inA]).toEqual([3, 2]);
    expect(unplaced.size).toBe(3);
  });

  it('a node that is of no use to a spread pod is not asked for, and does not count as a place for it', () => {
    const constraint = {
      topologyKey: HOSTNAME,
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
    };
    const spread = { gpus: 16, labels: { app: 'web' }, spec: { topologySpreadConstraints: [constraint] } };
    const fitting = { ...spread, gpus: 1 };

    const { opened, placed } = place([roomOf('a')], [demand(1, spread), demand(2, fitting, 'f')], newNodes());

    expect([opened.length, placed.size]).toEqual([0, 2]);
  });

  it('counts the pods of nodes that none of these pods may be on', () => {
    const elsewhere = filled(roomOf('x', { labels: { [ZONE]: 'z1' } }), classOf({ labels: { app: 'db' } }));
    const rooms = [roomOf('a', { labels: { [ZONE]: 'z1' } }), roomOf('b', { labels: { [ZONE]: 'z2' } })];
    const apart = { gpus: 1, spec: required('podAntiAffinity', 'db', ZONE) };

    expect(placesOf(place(rooms, [demand(1, apart)], newNodes(0), [elsewhere]))).toEqual([['p0', 'b']]);
  });
});

describe('any pods on any nodes', () => {
  const drafts = fc.record({ gpus: fc.integer({ min: 1, max: 9 }), cpu: fc.constantFrom('1', '8', '40') });
  const worlds = fc.record({
    free: fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 12 }),
    pods: fc.array(drafts, { maxLength: 40 }),
    most: fc.integer({ min: 0, max: 10 }),
  });
  const packed = ({ free, pods, most }: { free: number[]; pods: PodDraft[]; most: number }) => {
    const rooms = free.map((gpus, at) => roomOf(`n${at}`, { free: { ...ROOMY, [GPU]: gpus } }));
    const demands = demandsOf(pods.map((draft, at) => ({ key: `p${at}`, pod: classOf(draft) })));
    return { rooms, packing: pack({ rooms, demands, gpu: GPU, openRooms: newNodes(most) }) };
  };

  it('no node is overfilled, and each pod has one place or a reason', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { rooms, packing } = packed(world);

        for (const { free } of [...rooms, ...packing.opened])
          expect(Math.min(...Object.values(free))).toBeGreaterThanOrEqual(0);
        expect(packing.placed.size + packing.unplaced.size).toBe(world.pods.length);
        expect(packing.opened.length).toBeLessThanOrEqual(world.most);
      }),
    );
  });

  it('every new node has a pod, and the order of the pods says nothing', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { packing } = packed(world);
        const reversed = packed({ ...world, pods: world.pods.toReversed() }).packing;

        for (const room of packing.opened) expect(room.pods.size).toBeGreaterThan(0);
        expect(reversed.opened.length).toBe(packing.opened.length);
      }),
    );
  });
});
