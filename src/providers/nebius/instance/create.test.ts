import { describe, expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { going } from '#core/testing/going.ts';
import { aBatch } from '../../../conformance/scene.ts';
import { H200, type NebiusScene, openBackend, openScene } from '../fake/testing.ts';

const created = ({ fake }: NebiusScene) => fake.calls.filter(({ action }) => action === 'create');
const specsOf = (scene: NebiusScene) =>
  created(scene).map(({ body }) => body.spec as Readonly<Record<string, unknown>> & { cloudInitUserData: string });

async function refusalOf(scene: NebiusScene, config: object, id = 'launch1'): Promise<Fault | undefined> {
  const backend = await openBackend(scene, config);
  const [outcome] = await scene.during(backend.create(aBatch(1, id, id), going()));
  return outcome?.fault;
}

describe('a creation', () => {
  it('asks for one instance a name, each with its whole mark, a managed boot disk and a key of its own', async () => {
    const scene = openScene();
    const launch = aBatch(3);
    const outcomes = await scene.during((await openBackend(scene)).create(launch, going()));
    const bodies = created(scene).map(({ body }) => body);
    const [first] = launch.names;

    expect(outcomes).toEqual(launch.names.map((name) => ({ name, operation: expect.any(String) })));
    expect(bodies.map(({ metadata }) => (metadata as { name: string }).name)).toEqual(launch.names);
    expect(bodies[0]?.metadata).toMatchObject({
      parentId: 'folder-abc123',
      labels: { 'muster-cluster': 'cluster1', 'muster-pool': 'pool1', 'muster-shape': launch.mark.shape },
    });
    expect(specsOf(scene)[0]).toMatchObject({
      resources: { platform: 'gpu-h200-sxm', preset: '1gpu-16vcpu-200gb' },
      networkInterfaces: [{ subnetId: 'subnet-xyz', name: 'eth0', ipAddress: {} }],
      bootDisk: {
        attachMode: 'READ_WRITE',
        managedDisk: {
          name: `${first}-boot`,
          spec: { sizeGibibytes: '40', type: 'NETWORK_SSD', sourceImageId: 'computeimage-ubuntu24.04-cuda13.0' },
        },
      },
      hostname: first,
    });
    const keys = created(scene).map(({ key }) => key);
    expect(new Set(keys).size).toBe(3);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it('sends what the configuration says', async () => {
    const scene = openScene();
    scene.fake.images.set('folder-abc123 mine', 'computeimage-7');
    const more = {
      usePublicIp: true,
      preemptible: true,
      bootDiskSizeGb: 93,
      bootDiskType: 'NEBIUS_BOOT_DISK_TYPE_SSD_NRD',
      imageFamily: 'mine',
      clusterId: 'computegpucluster-1',
      serviceAccountId: 'serviceaccount-1',
      labels: { team: 'ml' },
      filesystems: [{ filesystemId: 'computefilesystem-1', mountPath: '/mnt/data' }],
      adminSshKey: 'ssh-ed25519 AAAA',
      additionalRuncmds: ['apt-get install -y tmux'],
    };
    await scene.during((await openBackend(scene, { ...H200, ...more })).create(aBatch(1), going()));
    const [spec] = specsOf(scene);

    expect(created(scene)[0]?.body.metadata).toMatchObject({ labels: { team: 'ml', 'muster-cluster': 'cluster1' } });
    expect(spec).toMatchObject({
      gpuCluster: { id: 'computegpucluster-1' },
      serviceAccountId: 'serviceaccount-1',
      networkInterfaces: [{ publicIpAddress: {} }],
      filesystems: [{ attachMode: 'READ_WRITE', mountTag: 'fs-0', existingFilesystem: { id: 'computefilesystem-1' } }],
      preemptible: { onPreemption: 'STOP' },
      recoveryPolicy: 'FAIL',
      bootDisk: {
        managedDisk: {
          spec: {
            sizeGibibytes: '93',
            type: 'NETWORK_SSD_NON_REPLICATED',
            sourceImageId: 'computeimage-7',
            diskEncryption: { type: 'MANAGED' },
          },
        },
      },
    });
    for (const part of ['mount -t virtiofs fs-0 /mnt/data', 'name: velda', 'apt-get install -y tmux', '#cloud-config'])
      expect(spec?.cloudInitUserData).toContain(part);
  });

  it('whose reply was lost is repeated at once with the same key, also by a new process, and makes nothing twice', async () => {
    const scene = openScene({ lagMs: 50_000 });
    const backend = await openBackend(scene);
    scene.fake.failureRules.add({ action: 'create', what: { kind: 'lost reply' } });
    const lost = await scene.during(backend.create(aBatch(1), going()).catch((thrown) => Fault.from(thrown)));
    const again = await scene.during(backend.create(aBatch(1), going()));
    const restarted = await scene.during((await openBackend(scene)).create(aBatch(1), going()));

    expect(lost).toMatchObject({ kind: 'unavailable' });
    expect(again).toEqual(aBatch(1).names.map((name) => ({ name, operation: expect.any(String) })));
    expect(restarted.map(({ name, fault }) => ({ name, fault }))).toEqual(aBatch(1).names.map((name) => ({ name })));
    expect(new Set(created(scene).map(({ key }) => key)).size).toBe(1);
    expect(scene.fake.instances).toHaveLength(1);
  });

  it('of a name that is taken by the same launch is as good, and by somebody else is refused', async () => {
    const scene = openScene();
    const [name = ''] = aBatch(1).names;
    const backend = await openBackend(scene);
    const ours = { 'muster-cluster': 'cluster1', 'muster-pool': 'pool1', 'muster-shape': 's' };
    scene.fake.add({ name, labels: ours });
    const [taken] = await scene.during(backend.create(aBatch(1), going()));
    const other = aBatch(1, 'launch2', 'pool2');
    scene.fake.add({ name: other.names[0] ?? '' });
    const [refused] = await scene.during(backend.create(other, going()));

    expect(taken).toEqual({ name });
    expect(refused?.fault).toMatchObject({ kind: 'invalid', remedy: expect.stringContaining('by somebody else') });
  });

  it('takes the newest image of the family, which is part of what forms a machine', async () => {
    const scene = openScene();
    const { form } = await openBackend(scene);
    const before = await scene.during(form?.(going()) ?? Promise.resolve(''));
    scene.fake.images.set(' ubuntu24.04-cuda13.0', 'computeimage-newer');
    await scene.clock.advance(10 * 60_000);

    expect(before).toBe('computeimage-ubuntu24.04-cuda13.0');
    expect(await scene.during(form?.(going()) ?? Promise.resolve(''))).toBe('computeimage-newer');
  });
});

describe('a refusal', () => {
  it.each([
    ['an unknown platform', { platform: 'gpu-h200-hxm' }, 'spec.resources.platform', 'did you mean "gpu-h200-sxm"?'],
    ['an unknown preset', { resourcePreset: '1gpu-16vcpu-20gb' }, 'preset', 'did you mean "1gpu-16vcpu-200gb"?'],
    [
      'a platform that cannot be preempted',
      { platform: 'cpu-d3', resourcePreset: '4vcpu-16gb', preemptible: true },
      'spec.preemptible',
      'cannot be preemptible',
    ],
  ])("of %s names the nearest of the cloud's own list", async (_what, more, field, remedy) => {
    const fault = await refusalOf(openScene(), { ...H200, ...more });

    expect(fault?.kind).toBe('invalid');
    expect(fault?.message).toContain(field);
    expect(fault?.remedy).toContain(remedy);
  });

  it('of a label has its path and the rule', async () => {
    const fault = await refusalOf(openScene(), { ...H200, labels: { 'team é': 'ml' } });

    expect(fault?.message).toContain('metadata.labels.team é: may have letters, digits and _ . / -, at most 63');
  });

  it.each(['ubuntu22.04-driverless', 'ubuntu24.04-cuda12'])(
    'takes the public image family %s where the project has none of that name',
    async (imageFamily) => {
      const scene = openScene();
      const backend = await openBackend(scene, { ...H200, imageFamily });

      expect(await scene.during(backend.form?.(going()) ?? Promise.resolve(''))).toContain(imageFamily);
    },
  );

  it('of an unknown image family says where to put one', async () => {
    const backend = await openBackend(openScene(), { ...H200, imageFamily: 'none' });
    const scene = openScene();
    const fault = await refusalOf(scene, { ...H200, imageFamily: 'none' });

    expect(backend.cloud).toBe('nebius:api.nebius.cloud:folder-abc123');
    expect(fault).toMatchObject({
      kind: 'invalid',
      remedy: expect.stringContaining('the family "none" into folder-abc123'),
    });
  });
});

it('user data that is too long is refused before it is sent, and named', async () => {
  const scene = openScene();
  const fault = await refusalOf(scene, { ...H200, additionalRuncmds: [`echo ${'x'.repeat(33_000)}`] });

  expect(fault).toMatchObject({ kind: 'invalid', message: expect.stringContaining('exceeds the limit of Nebius') });
  expect(created(scene)).toEqual([]);
});

it('tells what Nebius estimates for an instance, in dollars an hour', async () => {
  const scene = openScene();
  const priceOf = async (resourcePreset: string) => {
    const { pricePerHour } = await openBackend(scene, { ...H200, resourcePreset });
    return scene.during(pricePerHour?.(going()) ?? Promise.resolve(undefined));
  };

  expect([await priceOf('1gpu-16vcpu-200gb'), await priceOf('8gpu-128vcpu-1600gb')]).toEqual([3.5, 28]);
});
