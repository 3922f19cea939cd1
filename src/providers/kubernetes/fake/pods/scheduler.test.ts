import { describe, expect, test } from 'vitest';
import { aPod, openScene, PODS, type Scene } from '../testing.ts';
import { conditionOf } from './status.ts';

const ZONE = 'topology.kubernetes.io/zone';
const WEB = { app: 'web' };

const inZone = (name: string, zone: string) => ({ name, labels: { [ZONE]: zone } });

const placesOf = ({ fake }: Scene) =>
  Object.fromEntries(fake.objects('pods').map(({ metadata, spec }) => [metadata.name, spec?.nodeName]));

const refusalOf = ({ fake }: Scene, name: string) => {
  const pod = fake.object('pods', 'default', name);
  return String((pod && conditionOf(pod, 'PodScheduled')?.message) ?? '').split('. preemption')[0];
};

const required = (kind: string, topologyKey: string) => ({
  affinity: {
    [kind]: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: WEB } }],
    },
  },
});

async function withPods(specs: Readonly<Record<string, object>>): Promise<Scene> {
  const scene = openScene({ nodes: [inZone('a', 'one'), inZone('b', 'one'), inZone('c', 'two'), { name: 'd' }] });
  for (const [name, spec] of Object.entries(specs)) {
    await scene.post(PODS, aPod(name, spec, WEB));
    await scene.clock.advance(1_000);
  }
  return scene;
}

describe('the scheduler', () => {
  test('spreads pods over zones no more unevenly than they allow, on nodes with a zone', async () => {
    const spread = {
      topologyKey: ZONE,
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: WEB },
    };
    const spec = { topologySpreadConstraints: [spread] };
    const scene = await withPods({ p: { nodeName: 'a' }, q: { nodeName: 'b' }, r: spec, s: spec });

    expect(placesOf(scene)).toMatchObject({ r: 'c', s: 'c' });
    await scene.post(PODS, aPod('t', { ...spec, nodeSelector: { 'kubernetes.io/hostname': 'd' } }, WEB));
    await scene.clock.advance(1_000);
    expect(refusalOf(scene, 't')).toBe(
      "0/4 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label), 3 node(s) didn't match Pod's node affinity/selector",
    );
  });

  test('keeps apart what wants to be apart, and lets in nothing that those who are there want away', async () => {
    const apart = required('podAntiAffinity', ZONE);
    const scene = await withPods({ first: apart, second: apart, third: apart, plain: {} });

    expect(new Set([placesOf(scene).first, placesOf(scene).second]).size).toBe(2);
    // A node without the key is in no zone: nothing is there to be apart from.
    expect(placesOf(scene)).toMatchObject({ third: 'd', plain: 'd' });
    await scene.post(PODS, aPod('late', { nodeSelector: { [ZONE]: 'two' } }, WEB));
    await scene.clock.advance(1_000);
    expect(refusalOf(scene, 'late')).toBe(
      "0/4 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules, 3 node(s) didn't match Pod's node affinity/selector",
    );
  });

  test('puts together what wants to be together, the first anywhere', async () => {
    const together = required('podAffinity', 'kubernetes.io/hostname');
    const scene = await withPods({ first: together, second: together, third: together });

    expect(new Set(Object.values(placesOf(scene))).size).toBe(1);
  });

  test('gives a port of a node to one pod alone', async () => {
    const containers = [{ name: 'a', image: 'a', ports: [{ containerPort: 80, hostPort: 80 }] }];
    const scene = await withPods(Object.fromEntries(['p', 'q', 'r', 's', 't'].map((name) => [name, { containers }])));

    expect(new Set(Object.values(placesOf(scene)))).toEqual(new Set(['a', 'b', 'c', 'd', undefined]));
    expect(refusalOf(scene, 't')).toBe(
      "0/4 nodes are available: 4 node(s) didn't have free ports for the requested pod ports",
    );
  });
});
