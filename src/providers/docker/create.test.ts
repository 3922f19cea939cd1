import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Outcome } from '#core/provider.ts';
import { agentArchive } from './agent-archive.ts';
import { DockerConfig } from './config.ts';
import { filesIn } from './fake/archive.ts';
import { detailsOf, stateAt } from './fake/container.ts';
import { aBatch, existing, going, IMAGE, openBackend, openScene, type Scene } from './fake/testing.ts';

const AGENT_FILE = '/run/velda/velda.yaml';

async function created(scene: Scene, config: object = {}, launch = aBatch(1)): Promise<readonly Outcome[]> {
  const backend = await openBackend(scene, config);
  return scene.during(backend.create(launch, going()));
}

const faultIn = ([outcome]: readonly Outcome[]) => outcome?.fault && [outcome.fault.kind, outcome.fault.message];

describe('a container', () => {
  it('gets the file of its agent as a file, and nothing that can be inspected shows the token', async () => {
    const scene = openScene();
    const launch = aBatch(1);
    await created(scene, { env: { OMP_NUM_THREADS: '1' } }, launch);
    const [container] = scene.fake.containers;
    const file = parse(container?.files.get(AGENT_FILE) ?? '');

    expect(file).toMatchObject({ joinToken: 'mlt_secret', pool: 'dev', daemonConfig: { agentName: launch.names[0] } });
    expect(container && stateAt(container, scene.clock.now())).toBe('running');
    expect(JSON.stringify(container && detailsOf(container, 0))).not.toContain('mlt_');
    expect(scene.fake.calls.filter(({ body }) => JSON.stringify(body).includes('mlt_'))).toEqual([]);
  });

  it('is what the pool says', async () => {
    const scene = openScene();
    scene.fake.drivers.add('nvidia');
    scene.fake.networks.add('team');
    await created(scene, {
      cpus: 1.5,
      memory: '512m',
      shmSize: '1GiB',
      gpus: 2,
      network: 'team',
      volumes: ['/data:/data:ro'],
      user: '1000:1000',
      command: ['--pool=x'],
      runtime: 'nvidia',
      labels: { team: 'ml' },
      hostConfig: { PidsLimit: 512, Memory: 1 },
      stopTimeout: '90s',
    });
    const [container] = scene.fake.containers;

    expect(container?.config).toMatchObject({ User: '1000:1000', Cmd: ['--pool=x'], StopTimeout: 90 });
    expect(container?.labels).toMatchObject({
      team: 'ml',
      'io.muster.cluster': 'cluster1',
      'io.muster.launch': 'launch1',
    });
    expect(container?.hostConfig).toEqual({
      Init: true,
      PidsLimit: 512,
      RestartPolicy: { Name: 'no' },
      AutoRemove: false,
      NetworkMode: 'team',
      ExtraHosts: ['host.docker.internal:host-gateway'],
      NanoCpus: 1_500_000_000,
      Memory: 512 * 2 ** 20,
      ShmSize: 2 ** 30,
      DeviceRequests: [{ Driver: '', Capabilities: [['gpu']], Count: 2 }],
      Binds: ['/data:/data:ro'],
      Runtime: 'nvidia',
    });
  });

  it.each([
    ['all', { Count: -1 }],
    [1, { Count: 1 }],
    [['GPU-1', 'GPU-2'], { DeviceIDs: ['GPU-1', 'GPU-2'] }],
  ])('with the GPUs %j asks for %j', async (gpus, request) => {
    const scene = openScene();
    scene.fake.drivers.add('nvidia');
    await created(scene, { gpus });

    expect(scene.fake.containers[0]?.hostConfig.DeviceRequests).toEqual([
      { Driver: '', Capabilities: [['gpu']], ...request },
    ]);
  });

  it.each(['create', 'inspect', 'put', 'start'])(
    'whose %s got no answer is made once by the next try',
    async (action) => {
      const scene = openScene();
      scene.fake.failureRules.add({ action, what: { kind: 'lost reply' } });

      await expect(created(scene)).rejects.toMatchObject({ kind: 'unavailable' });
      expect(faultIn(await created(scene))).toBeUndefined();
      const [container, ...others] = scene.fake.containers;
      expect(others).toEqual([]);
      expect(container && stateAt(container, scene.clock.now())).toBe('running');
      expect(container?.files.has(AGENT_FILE)).toBe(true);
    },
  );

  it('of somebody else keeps its name', async () => {
    const scene = openScene();
    const launch = aBatch(1);
    const theirs = scene.fake.run(launch.names[0] ?? '');

    expect(faultIn(await created(scene, {}, launch))).toEqual([
      'denied',
      `Another container is named ${launch.names[0]}.`,
    ]);
    expect(theirs.files.size).toBe(0);
  });

  it.each(['create', 'put', 'start'])(
    'whose %s the engine refuses for reasons of its own is not made, and that is said',
    async (action) => {
      const scene = openScene();
      const message = 'driver failed programming external connectivity on endpoint';
      scene.fake.failureRules.add({ action, what: { kind: 'error', code: 'system', message, status: 500 } });
      const fault = faultIn(await created(scene));

      expect(fault).toEqual(['exhausted', expect.stringContaining(message)]);
      expect(existing(scene)).toEqual([]);
    },
  );

  it.each<readonly [string, object, string, string]>([
    ['GPUs without a driver', { gpus: 'all' }, 'unsupported', 'could not select device driver'],
    ['a network that is not there', { network: 'team' }, 'invalid', 'network team not found'],
  ])('that cannot be started is taken away again: %s', async (_what, config, kind, message) => {
    const scene = openScene();
    const fault = faultIn(await created(scene, config));

    expect(fault).toEqual([kind, expect.stringContaining(message)]);
    expect(existing(scene)).toEqual([]);
  });
});

describe("the agent's file", () => {
  const config = DockerConfig.parse({ image: IMAGE });
  const { boot } = aBatch(1);
  const headerOf = (user: string) => {
    const bytes = Buffer.from(agentArchive(config, { name: 'm-1', boot, user }));
    const octal = (from: number) => Number.parseInt(bytes.toString('latin1', 512 + from, 512 + from + 7), 8);
    return { mode: octal(100).toString(8), uid: octal(108), gid: octal(116) };
  };

  it.each([
    ['', { mode: '600', uid: 0, gid: 0 }],
    ['1000:1001', { mode: '600', uid: 1000, gid: 1001 }],
    ['1000', { mode: '600', uid: 1000, gid: 1000 }],
    ['node', { mode: '644', uid: 0, gid: 0 }],
  ])('belongs to the user "%s"', (user, header) => {
    expect(headerOf(user)).toEqual(header);
    expect([...filesIn(agentArchive(config, { name: 'm-1', boot, user })).keys()]).toEqual(['run/velda/velda.yaml']);
  });
});
