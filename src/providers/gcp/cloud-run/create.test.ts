import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Fault } from '#core/fault.ts';
import type { Boot } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { aLaunchWith } from '../../../conformance/backend-world.ts';
import { aBatch, createdBy } from '../../../conformance/scene.ts';
import type { WantedService } from '../fake/run/service.ts';
import { makeService } from '../fake/run/state.ts';
import { IMAGE, openRunScene, type RunScene } from '../fake/run/testing/scene.ts';

const CREATION = 'run.services.create';
const NAME = 'm-dev-c1-0123456789';

const faultOf = (call: Promise<unknown>): Promise<Fault> =>
  call.then(
    () => new Fault('internal', 'there was no fault'),
    (thrown: unknown) => Fault.from(thrown),
  );

/** What Cloud Run is sent for one machine. */
async function sentFor(config: object, boot: Partial<Boot> = {}, scene = openRunScene()) {
  const backend = await scene.open(config);
  const [outcome] = await createdBy(scene, backend, aLaunchWith(boot, NAME));
  expect(outcome?.fault).toBeUndefined();
  return scene.fake.calls.find(({ action }) => action === CREATION);
}

/** How the creation of one machine ends that Cloud Run agreed to. */
async function endOf(scene: RunScene, config: object = {}): Promise<Fault | undefined> {
  const [outcome] = await createdBy(scene, await scene.open(config), aBatch(1));
  return outcome?.fault;
}

describe('a machine', () => {
  it('is one service of its name, with one container that always runs and has its processors', async () => {
    const sent = await sentFor({}, { port: 8_000 });

    expect(sent?.query.serviceId).toBe(NAME);
    expect(sent?.body).toMatchObject({
      labels: {
        'muster-cluster': 'cluster1',
        'muster-pool': 'pool1',
        'muster-shape': '0123456789ab',
        'muster-port': '8000',
      },
      ingress: 'INGRESS_TRAFFIC_ALL',
      template: {
        scaling: { minInstanceCount: 1, maxInstanceCount: 1 },
        executionEnvironment: 'EXECUTION_ENVIRONMENT_GEN2',
        containers: [
          {
            image: IMAGE,
            resources: { limits: { cpu: '1', memory: '1Gi' }, cpuIdle: false },
            ports: [{ containerPort: 8_000 }],
            startupProbe: { httpGet: { path: '/health', port: 8_000 } },
          },
        ],
      },
    });
    expect(JSON.stringify(sent?.body)).not.toMatch(/invokerIamDisabled|args/);
  });

  it('finds the file of its agent in one variable, and nothing of it is read back', async () => {
    const scene = openRunScene();
    const backend = await scene.open({ agentConfig: { labels: { zone: 'a' } }, env: { GREETING: 'hi' } });
    await createdBy(scene, backend, aLaunchWith({}, NAME));
    await scene.during(backend.list(going()));
    const [creation] = scene.fake.calls.filter(({ action }) => action === CREATION);
    const { template } = (creation?.body ?? {}) as WantedService;
    const env = Object.fromEntries((template?.containers?.[0]?.env ?? []).map(({ name, value }) => [name, value]));

    expect(Object.keys(env)).toEqual(['MUSTER_SESSION_ENV', 'GREETING', 'MUSTER_AGENT_CONFIG']);
    expect(env.MUSTER_SESSION_ENV).toBe('GREETING');
    expect(parse(env.MUSTER_AGENT_CONFIG ?? '')).toMatchObject({
      pool: 'law',
      joinToken: expect.stringMatching(/^mlt_/),
      labels: { zone: 'a' },
      daemonConfig: { agentName: NAME },
    });
    const shown = scene.fake.calls.filter(({ service }) => service === 'run').map(({ query }) => query.fields ?? '*');
    expect(shown.join()).not.toMatch(/\*|template/);
  });

  it('of a pool serves the port that Cloud Run waits for, and takes no requests from outside', async () => {
    const { body } = (await sentFor({})) ?? {};

    expect(body).toMatchObject({
      ingress: 'INGRESS_TRAFFIC_INTERNAL_ONLY',
      template: { containers: [{ args: ['--serve', '8080'], ports: [{ containerPort: 8_080 }] }] },
    });
  });

  it('has every setting of its backend', async () => {
    const { body } =
      (await sentFor({
        ...{ containerName: 'box', cpu: 4, memory: '8Gi', labels: { team: 'ml' }, allowUnauthenticated: true },
        ...{ serviceAccount: 'workers@my-project.iam.gserviceaccount.com', network: 'velda', subnetwork: 'private' },
      })) ?? {};

    expect(body).toMatchObject({
      labels: { team: 'ml' },
      invokerIamDisabled: true,
      template: {
        serviceAccount: 'workers@my-project.iam.gserviceaccount.com',
        vpcAccess: {
          egress: 'PRIVATE_RANGES_ONLY',
          networkInterfaces: [{ network: 'velda', subnetwork: 'private' }],
        },
        containers: [{ name: 'box', resources: { limits: { cpu: '4', memory: '8Gi' } } }],
      },
    });
  });

  it('whose file is too large for a variable is refused before anything is asked', async () => {
    const scene = openRunScene();
    const backend = await scene.open({ agentConfig: { labels: { long: 'x'.repeat(33_000) } } });
    const fault = await faultOf(scene.during(backend.create(aBatch(1), going())));
    const outcome = fault.kind === 'internal' ? undefined : fault;
    const [refused] = await scene.during(backend.create(aBatch(1), going()));

    expect((outcome ?? refused?.fault)?.message).toContain(
      'exceeds the limit of Cloud Run for a variable, 32768 bytes',
    );
    expect(scene.fake.countOf(CREATION)).toBe(0);
  });
});

describe('what Cloud Run finds out later', () => {
  it('an image that no registry has is missing, and the remedy says how to push one', async () => {
    const scene = openRunScene();
    scene.run.missingImages.add(IMAGE);
    const fault = await endOf(scene);

    expect(fault).toMatchObject({ kind: 'missing', message: expect.stringContaining(`Image '${IMAGE}' not found.`) });
    expect(fault?.remedy).toContain('muster image build docker --push HOST/NAME');
  });

  it('an image that it may not pull is denied, and the remedy names the account and its role', async () => {
    const scene = openRunScene();
    scene.run.privateImages.add(IMAGE);

    expect(await endOf(scene)).toMatchObject({
      kind: 'denied',
      remedy: expect.stringMatching(/roles\/artifactregistry\.reader for service-NUMBER@serverless-robot-prod/),
    });
  });

  it('a container that does not answer at its port is an invalid image, and the listing says the same', async () => {
    const scene = openRunScene();
    scene.run.deafImages.add(IMAGE);
    const fault = await endOf(scene);
    const [machine] = await scene.during((await scene.open()).list(going()));

    expect(fault).toMatchObject({ kind: 'invalid', message: expect.stringContaining('PORT=8080') });
    expect(machine).toMatchObject({
      state: 'failed',
      trouble: { kind: 'invalid', reason: 'HEALTH_CHECK_CONTAINER_ERROR', final: true },
    });
  });

  it('no room for the instance is no fault of the image: another backend may have some', async () => {
    const scene = openRunScene();
    scene.run.late = 1;

    expect(await endOf(scene)).toMatchObject({ kind: 'exhausted' });
  });
});

describe('what Cloud Run refuses at once', () => {
  it('more processors than the region may have is a quota, with where to raise it', async () => {
    const scene = openRunScene();
    scene.run.cpus.set('us-central1', 3_000);
    const outcomes = await createdBy(scene, await scene.open({ cpu: 2, memory: '2Gi' }), aBatch(2));
    const faults = outcomes.flatMap(({ fault }) => fault ?? []);

    expect(faults).toMatchObject([{ kind: 'quota', message: expect.stringContaining('CpuAllocPerProjectRegion') }]);
    expect(faults[0]?.remedy).toContain('cloud.google.com/run/quotas');
  });

  it('a rate that is too high is throttled, in whichever words', async () => {
    const scene = openRunScene();
    const message = "Quota exceeded for quota metric 'Write requests' and limit 'Write requests per minute per region'";
    const what = { kind: 'error', code: 'RESOURCE_EXHAUSTED', message, status: 429 } as const;
    scene.fake.failureRules.add({ action: CREATION, what });

    expect(await endOf(scene)).toMatchObject({ kind: 'throttled' });
  });

  it.each([
    ['run.services.create', {}],
    ['run.services.setIamPolicy', { allowUnauthenticated: true }],
  ])('a missing right %s is denied, and the remedy names the roles', async (right, config) => {
    const scene = openRunScene();
    scene.fake.world.denied.add(right);
    const fault = await endOf(scene, config);

    expect(fault).toMatchObject({ kind: 'denied', message: expect.stringContaining(right) });
    expect(fault?.remedy).toMatch(/roles\/run\.developer in the project my-project.*roles\/iam\.serviceAccountUser/);
  });

  it('an API that is not enabled names the command that enables it', async () => {
    const scene = openRunScene();
    const what = { kind: 'error', code: 'SERVICE_DISABLED', message: 'It is disabled.', status: 403 } as const;
    scene.fake.failureRules.add({ action: CREATION, what });

    expect((await endOf(scene))?.remedy).toContain('gcloud services enable run.googleapis.com --project my-project');
  });

  it.each([
    [{ cpu: 8, memory: '1Gi' }, 'memory'],
    [{ serviceAccount: 'nobody@elsewhere.test' }, 'actAs'],
  ])('%j is refused in its words', async (config, words) => {
    expect((await endOf(openRunScene(), config))?.message).toContain(words);
  });
});

it('a name that somebody else has is never taken over', async () => {
  const scene = openRunScene();
  const place = { project: 'my-project', region: 'us-central1', id: NAME };
  makeService(scene.run, place, { labels: { team: 'ml' }, template: { containers: [{ image: 'hello' }] } });
  const backend = await scene.open();
  const [outcome] = await createdBy(scene, backend, aLaunchWith({}, NAME));
  const mark = { cluster: 'cluster1', use: 'worker', owner: 'pool1', shape: 's' } as const;
  const [removed] = await scene.during(backend.delete([{ name: NAME, mark, createdAt: 0, state: 'running' }], going()));

  expect([outcome?.fault?.kind, removed?.fault?.kind]).toEqual(['denied', 'denied']);
  expect(scene.run.services).toMatchObject([{ deletedAtMs: undefined }]);
});
