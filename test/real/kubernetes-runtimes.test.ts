// Runtimes from the user's templates on a real API server: each step leaves exactly what it should.
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { until } from '#core/testing/until.ts';
import type { Rendered } from '../../src/api/wire/runtime.ts';
import { openWorld, type World } from '../system/harness/world.ts';
import { kubernetesPrograms } from './parts/kubernetes.ts';
import { isMissing, needed, type Part } from './parts/part.ts';
import { type Made, NAMESPACE, openRuntimeScene, type RuntimeScene } from './parts/runtime-scene.ts';

let world: World | undefined;
let part: Part<RuntimeScene> = { missing: 'the scene' };
let close = (): void => {};

beforeAll(async () => {
  const programs = await kubernetesPrograms();
  if (isMissing(programs)) {
    part = programs;
    return;
  }
  world = openWorld();
  const scene = await openRuntimeScene(world, programs);
  close = scene.close;
  part = scene;
});
afterAll(async () => {
  close();
  await world?.close();
});

const GIB = 2 ** 30;
const FOREIGN = 'Service/foreign';
const CLAIM = 'PersistentVolumeClaim/data-runtime-a-0';
const ALL_OF_A = [
  'Ingress/grpc-runtime-a',
  'Ingress/http-runtime-a',
  CLAIM,
  'Pod/runtime-a-0',
  FOREIGN,
  'Service/runtime-a',
  'StatefulSet/runtime-a',
];

const uidOf = ({ metadata }: Made): string => metadata.uid;
const versionsOf = (objects: readonly Made[]): Readonly<Record<string, string>> =>
  Object.fromEntries(objects.map(({ kind, metadata }) => [`${kind}/${metadata.name}`, metadata.resourceVersion]));
const containerOf = ({ spec }: Made): { image: string; resources: { limits: { cpu: string } } } => {
  const pod = ((spec.template as { spec?: object } | undefined)?.spec ?? spec) as { containers: [never] };
  return pod.containers[0];
};
const storageOf = ({ spec }: Made): string => (spec.resources as { requests: { storage: string } }).requests.storage;

test('the four templates of the user provision a runtime, which is ready once it answers', async (context) => {
  const scene = needed(context, part);

  const made = await scene.muster('runtime', 'create', 'a', '--slots', '1', '--version', '0.62.0', '--wait');

  expect(made).toMatchObject({ code: 0 });
  expect(made.out).toMatch(/Runtime a is ready at http:\/\/node-a\.localhost:\d+\./);
  expect(await scene.names()).toEqual(ALL_OF_A);
  expect([...scene.pinged].map((host) => host.replace(/:\d+/, ''))).toEqual(['node-a.localhost']);
  expect(containerOf(await scene.object('pod', 'runtime-a-0'))).toMatchObject({
    image: 'rilldata/rill:0.62.0',
    resources: { limits: { cpu: '1', memory: '4Gi' } },
  });
});

test('a check sees no drift in what the API server added, and writes nothing', async (context) => {
  const scene = needed(context, part);
  await scene.cluster.kubectl('annotate', 'service', 'runtime-a', '-n', NAMESPACE, 'others.test/note=kept');
  const [before, writes] = [versionsOf(await scene.objects()), scene.writes().length];

  await scene.check('a');

  expect((await scene.untilPhase('a', 'ready')).why).toBeUndefined();
  expect(scene.writes().slice(writes)).toEqual([]);
  expect(versionsOf(await scene.objects())).toEqual(before);
  expect((await scene.muster('runtime', 'why', 'a')).out).not.toContain('repair');
});

test('what others removed or changed is put back; applying the rest again writes nothing', async (context) => {
  const scene = needed(context, part);
  const { cluster } = scene;
  const untouched = (versions: Readonly<Record<string, string>>) => ({ ...versions, 'Service/runtime-a': '' });
  const before = untouched(versionsOf(await scene.objects()));

  await cluster.kubectl('delete', 'service', 'runtime-a', '-n', NAMESPACE);
  await scene.check('a');
  await until('the service is back', () => cluster.kubectl('get', 'service', 'runtime-a', '-n', NAMESPACE));
  await scene.untilPhase('a', 'ready');
  const ports = [{ op: 'replace', path: '/spec/ports/0/port', value: 8181 }];
  await cluster.kubectl(
    ...['patch', 'service', 'runtime-a', '-n', NAMESPACE, '--type=json', '-p', JSON.stringify(ports)],
  );
  await scene.check('a');
  const repaired = await until('the port is back', async () => {
    const { spec } = await scene.object('service', 'runtime-a');
    const [first] = spec.ports as { port: number }[];
    return first?.port === 8080 && spec;
  });
  await scene.untilPhase('a', 'ready');

  expect((repaired.ports as object[]).length).toBe(2);
  expect(untouched(versionsOf(await scene.objects()))).toEqual(before);
});

test('what others changed so that the runtime is down is put back at the next check', async (context) => {
  const scene = needed(context, part);
  const { cluster } = scene;
  const repaired = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
    await scene.check('a');
    await until(what, isSo);
    expect((await scene.untilPhase('a', 'ready')).why).toBeUndefined();
  };

  await cluster.kubectl('scale', 'statefulset', 'runtime-a', '-n', NAMESPACE, '--replicas=0');
  await until('its pod goes', async () => !(await scene.names()).includes('Pod/runtime-a-0'));
  await repaired('its pod is back', async () => (await scene.names()).includes('Pod/runtime-a-0'));
  const nobody = JSON.stringify({ spec: { selector: { 'app.kubernetes.io/name': 'nobody' } } });
  await cluster.kubectl('patch', 'service', 'runtime-a', '-n', NAMESPACE, '-p', nobody);
  await repaired('its selector is back', async () => {
    const { spec } = await scene.object('service', 'runtime-a');
    return (spec.selector as Record<string, string>)['app.kubernetes.io/name'] === 'runtime-a';
  });
  expect(await scene.names()).toEqual(ALL_OF_A);
});

test('a StatefulSet that others made anew with another serviceName is ours again, and its pod goes on', async (context) => {
  const scene = needed(context, part);
  const { cluster } = scene;
  const pod = uidOf(await scene.object('pod', 'runtime-a-0'));
  const { kind, metadata, spec } = await scene.object('statefulset', 'runtime-a');
  const { name, labels, annotations } = metadata as Made['metadata'] & { labels: Record<string, string> };

  await cluster.kubectl('delete', 'statefulset', name, '-n', NAMESPACE, '--cascade=orphan');
  await cluster.apply({
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace: NAMESPACE, labels, annotations },
    spec: { ...spec, serviceName: 'other' },
  });
  await scene.check('a');
  await until('it is ours again', async () => {
    const { items } = await cluster.get<{ items: Made[] }>('statefulsets', '-n', NAMESPACE);
    return items.find(({ metadata: { name: one } }) => one === name)?.spec.serviceName === 'cloud-runtime';
  });
  await scene.untilPhase('a', 'ready');

  expect(uidOf(await scene.object('pod', 'runtime-a-0'))).toBe(pod);
  expect(await scene.names()).toEqual(ALL_OF_A);
});

test('another version is rolled out on the same claim', async (context) => {
  const scene = needed(context, part);
  const claim = uidOf(await scene.object('pvc', 'data-runtime-a-0'));

  await scene.muster('runtime', 'pin', 'a', '--version', '0.63.0');
  const waited = await scene.muster('runtime', 'wait', 'a');

  expect(waited).toMatchObject({ code: 0 });
  expect(await scene.names()).toEqual(ALL_OF_A);
  expect(containerOf(await scene.object('pod', 'runtime-a-0')).image).toBe('rilldata/rill:0.63.0');
  expect(uidOf(await scene.object('pvc', 'data-runtime-a-0'))).toBe(claim);
});

test('a larger runtime keeps its claim, which grows before the StatefulSet is made anew', async (context) => {
  const scene = needed(context, part);
  const [claim, set] = [await scene.object('pvc', 'data-runtime-a-0'), await scene.object('statefulset', 'runtime-a')];
  const writes = scene.writes().length;

  const resized = await scene.muster('runtime', 'resize', 'a', '--slots', '2');
  const waited = await scene.muster('runtime', 'wait', 'a');

  expect([resized.code, waited.code]).toEqual([0, 0]);
  const [grown, anew] = [await scene.object('pvc', 'data-runtime-a-0'), await scene.object('statefulset', 'runtime-a')];
  expect([uidOf(grown), storageOf(grown)]).toEqual([uidOf(claim), String(80 * GIB)]);
  expect(uidOf(anew)).not.toBe(uidOf(set));
  expect(containerOf(await scene.object('pod', 'runtime-a-0')).resources.limits.cpu).toBe('2');
  expect(await scene.names()).toEqual(ALL_OF_A);
  expect(waited.out).toContain('ready');
  expect((await scene.untilPhase('a', 'ready')).grant).toMatchObject({ cpu: 2, storage_bytes: 80 * GIB });
  const steps = scene.writes().slice(writes);
  const order = [...new Set(steps.map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`))];
  expect(order.slice(0, 3)).toEqual(['patch persistentvolumeclaims', 'delete statefulsets', 'patch statefulsets']);
});

test('hibernated only its claim is left, and woken it is whole again on that claim', async (context) => {
  const scene = needed(context, part);
  const claim = uidOf(await scene.object('pvc', 'data-runtime-a-0'));

  await scene.muster('runtime', 'hibernate', 'a');
  const asleep = await scene.muster('runtime', 'wait', 'a');
  await until('its pod goes', async () => !(await scene.names()).includes('Pod/runtime-a-0'));
  const left = await scene.names();
  await scene.muster('runtime', 'wake', 'a');
  const awake = await scene.muster('runtime', 'wait', 'a');

  expect(asleep).toMatchObject({ code: 0 });
  expect(left).toEqual([CLAIM, FOREIGN]);
  expect(awake).toMatchObject({ code: 0 });
  expect(await scene.names()).toEqual(ALL_OF_A);
  expect(uidOf(await scene.object('pvc', 'data-runtime-a-0'))).toBe(claim);
});

test('removed nothing of it is left, and nothing of others was touched', async (context) => {
  const scene = needed(context, part);
  const foreign = await scene.object('service', 'foreign');

  const removed = await scene.muster('runtime', 'rm', 'a', '--wait');

  expect(removed).toMatchObject({ code: 0 });
  await until('its pod goes', async () => (await scene.names()).every((name) => !name.startsWith('Pod/')));
  expect(await scene.names()).toEqual([FOREIGN]);
  expect(foreign.metadata.annotations?.['muster.io/digest']).toBeUndefined();
  expect(scene.writes().filter(({ objectRef }) => objectRef?.name === 'foreign')).toEqual([]);
  expect(await scene.object('service', 'foreign')).toEqual(foreign);
});

test('the later form with a Deployment and a claim of its own lives the same life', async (context) => {
  const scene = needed(context, part);
  const words = ['--slots', '1', '--version', '0.62.0', '--annotation', 'org=ACME Inc.'];
  const podless = async (): Promise<readonly string[]> =>
    (await scene.names()).filter((name) => !name.startsWith('Pod/'));
  const whole = [
    'Deployment/runtime-b',
    'Ingress/grpc-runtime-b',
    'Ingress/http-runtime-b',
    'PersistentVolumeClaim/runtime-b',
    FOREIGN,
    'Service/runtime-b',
  ];

  const made = await scene.muster('runtime', 'create', 'b', ...words, '--provisioner', 'later-example', '--wait');
  expect(made).toMatchObject({ code: 0 });
  expect(await podless()).toEqual(whole);
  const claim = uidOf(await scene.object('pvc', 'runtime-b'));
  const writes = scene.writes().length;
  await scene.check('b');
  expect((await scene.untilPhase('b', 'ready')).why).toBeUndefined();
  expect(scene.writes().slice(writes)).toEqual([]);

  await scene.muster('runtime', 'resize', 'b', '--slots', '3');
  expect(await scene.muster('runtime', 'wait', 'b')).toMatchObject({ code: 0 });
  const grown = await scene.object('pvc', 'runtime-b');
  expect([uidOf(grown), storageOf(grown)]).toEqual([claim, String(120 * GIB)]);
  await scene.muster('runtime', 'hibernate', 'b');
  expect(await scene.muster('runtime', 'wait', 'b')).toMatchObject({ code: 0 });
  expect(await podless()).toEqual(['PersistentVolumeClaim/runtime-b', FOREIGN]);
  await scene.muster('runtime', 'wake', 'b');
  expect(await scene.muster('runtime', 'wait', 'b')).toMatchObject({ code: 0 });
  expect(await podless()).toEqual(whole);
  expect(await scene.muster('runtime', 'rm', 'b', '--wait')).toMatchObject({ code: 0 });
  expect(await podless()).toEqual([FOREIGN]);
});

test('killed in the middle of an apply, of a growth and of a removal, the next start finishes', async (context) => {
  const scene = needed(context, part);
  const { api } = scene;
  /** Kills the server once it has sent that of `c`. */
  const killAt = async (verb: string, resource: string, change: () => Promise<unknown>): Promise<void> => {
    const sent = (): number =>
      scene
        .writes()
        .filter(
          (one) =>
            one.verb === verb && one.objectRef?.resource === resource && one.objectRef.name?.includes('runtime-c'),
        ).length;
    const before = sent();
    await change();
    await until(`${verb} ${resource}`, () => sent() > before);
    await scene.killAndStart();
  };
  const whole = ALL_OF_A.map((name) => name.replace('runtime-a', 'runtime-c'));

  await killAt('patch', 'statefulsets', () => api.post('/runtimes', { id: 'c', slots: 1, version: '1' }));
  await scene.untilPhase('c', 'ready');
  expect(await scene.names()).toEqual(whole);
  const claim = uidOf(await scene.object('pvc', 'data-runtime-c-0'));
  await killAt('delete', 'statefulsets', () => scene.muster('runtime', 'resize', 'c', '--slots', '2'));
  await scene.untilPhase('c', 'ready');
  expect(await scene.names()).toEqual(whole);
  const grown = await scene.object('pvc', 'data-runtime-c-0');
  expect([uidOf(grown), storageOf(grown)]).toEqual([claim, String(80 * GIB)]);
  expect(containerOf(await scene.object('pod', 'runtime-c-0')).resources.limits.cpu).toBe('2');
  await killAt('delete', 'ingresses', () => scene.muster('runtime', 'rm', 'c'));
  await until('all of it goes', async () => (await scene.names()).length === 1);
  expect(await scene.names()).toEqual([FOREIGN]);
  await until('its row goes', async () => (await scene.muster('runtime', 'show', 'c')).code !== 0);
});

test('templates that the API server refuses end the wait with its words after timeout_seconds', async (context) => {
  const scene = needed(context, part);

  const made = await scene.muster('runtime', 'create', 'refused', '--slots', '1', '--provisioner', 'refused', '--wait');

  expect(made).toMatchObject({ code: 1 });
  expect(made.out).toContain('duplicate entries for key [containerPort=8080,protocol="TCP"]');
  expect(await scene.muster('runtime', 'rm', 'refused', '--wait')).toMatchObject({ code: 0 });
  expect(await scene.names()).toEqual([FOREIGN]);
});

test('a changed template that breaks runtimes reaches max_updating of nine, and its correction all', async (context) => {
  const scene = needed(context, part);
  const ids = Array.from({ length: 9 }, (_, at) => `s${at}`);
  const checkAll = () => Promise.all(ids.map((id) => scene.check(id)));
  const settled = (phase: string, count: number) =>
    until(`${count} are ${phase}`, async () => {
      const { items } = await scene.api.get<{ items: { id: string; phase: string }[] }>('/runtimes?limit=100');
      return items.filter((one) => ids.includes(one.id) && one.phase === phase).length === count;
    });
  const withMark = async (mark: string): Promise<number> =>
    (await scene.objects()).filter(({ kind, spec }) => kind === 'StatefulSet' && JSON.stringify(spec).includes(mark))
      .length;
  for (const id of ids) await scene.api.post('/runtimes', { id, slots: 1, version: '1', provisioner: 'short' });
  await settled('ready', 9);

  const placed = (where: string) => (text: string) =>
    text.replace('      securityContext:\n        fsGroup', `      nodeSelector: { ${where} }\n$&`);
  scene.writeTemplate('templates/short.yaml', placed('nowhere: here'));
  await checkAll();
  await settled('error', 3);
  await checkAll();
  expect(await withMark('nowhere')).toBe(3);
  expect((await scene.muster('runtime', 'ls')).out).toContain('it cannot be scheduled');

  scene.writeTemplate('templates/short.yaml', placed('kubernetes.io/hostname: wide'));
  await checkAll();
  await settled('ready', 9);
  expect([await withMark('nowhere'), await withMark('kubernetes.io/hostname')]).toEqual([0, 9]);
  for (const id of ids) await scene.muster('runtime', 'rm', id);
  await until('all of them go', async () => (await scene.names()).length === 1);
});

// Fewer than a hundred would call the longest of all the 99th percentile: that is the first request of a server.
const ROUNDS = 100;
const quantile = (values: readonly number[], share: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? 0);

test('from the request to four applied objects, beside kubectl apply of the same files', async (context) => {
  const scene = needed(context, part);
  const tookMs: Record<'muster' | 'kubectl', number[]> = { muster: [], kubectl: [] };
  const appliedTo = (id: string) =>
    scene.writes().filter(({ verb, objectRef }) => verb === 'patch' && objectRef?.name?.endsWith(`runtime-${id}`));

  for (let round = 0; round < ROUNDS; round++) {
    const id = `m${round}`;
    const since = systemClock.now();
    await scene.api.post('/runtimes', { id, slots: 1, version: '0.62.0' });
    const four = await until(`four objects of ${id}`, () => appliedTo(id).length >= 4 && appliedTo(id));
    tookMs.muster.push(Math.max(...four.slice(0, 4).map((one) => Date.parse(one.stageTimestamp))) - since);

    const body = { id: `k${round}`, slots: 1, version: '0.62.0', provisioner: 'kubernetes-example' };
    const { manifests } = await scene.api.post<Rendered>('/runtime-renders', body);
    const file = scene.world.write(`k${round}.yaml`, manifests.map(({ text }) => text).join('---\n'));
    const sinceMs = systemClock.monotonic();
    await scene.cluster.kubectl('apply', '--server-side', '-f', file);
    tookMs.kubectl.push(systemClock.monotonic() - sinceMs);
  }

  for (const [who, values] of Object.entries(tookMs)) {
    const [p50, p99] = [quantile(values, 0.5), quantile(values, 0.99)];
    const load = (loadavg()[0] ?? 0).toFixed(1);
    process.stdout.write(
      `four objects applied, ${who}: p50 ${p50} ms, p99 ${p99} ms (${ROUNDS} rounds, load ${load})\n`,
    );
  }
  const { MUSTER_FIGURES_FILE: file } = process.env;
  if (file) writeFileSync(file, JSON.stringify(tookMs));
  expect([tookMs.muster.length, tookMs.kubectl.length]).toEqual([ROUNDS, ROUNDS]);
});
