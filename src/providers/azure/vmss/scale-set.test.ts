import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { going } from '#core/testing/going.ts';
import { aBatch } from '../../../conformance/scene.ts';
import { type AzureScene, addSet, computeOf, openInSet, openScene, remainsIn, SET } from '../fake/testing.ts';

const PUT = 'management.vmPut';

async function create(scene: AzureScene, config: object = {}, count = 1) {
  const backend = await openInSet(scene, config);
  return scene.during(backend.create(aBatch(count), going()));
}

describe('a machine of a set', () => {
  it('is put into it by name, formed by the profile, and goes with all that was made along with it', async () => {
    const scene = openScene();
    const set = addSet(computeOf(scene));
    const backend = await openInSet(scene, { tags: { team: 'ml' } });
    const launch = aBatch(1);
    const [name = ''] = launch.names;
    await scene.during(backend.create(launch, going()));
    const [vm] = computeOf(scene).vms;
    const [interfacePart] = computeOf(scene).parts;
    const made = remainsIn(computeOf(scene));
    await scene.clock.advance(10_000);
    await scene.during(backend.delete(await scene.during(backend.list(going())), going()));
    await scene.clock.advance(10_000);

    expect(vm).toMatchObject({
      name,
      location: 'westeurope',
      size: 'Standard_NC4as_T4_v3',
      tags: { 'muster-name': name, team: 'ml' },
      properties: {
        virtualMachineScaleSet: { id: set.id },
        priority: 'Spot',
        evictionPolicy: 'Delete',
        osProfile: { computerName: name, adminUsername: 'azureuser' },
        storageProfile: { osDisk: { managedDisk: { storageAccountType: 'Premium_LRS' }, deleteOption: 'Delete' } },
      },
    });
    expect(Buffer.from(vm?.customData ?? '', 'base64').toString()).toContain('notices: azure');
    expect(JSON.stringify(vm?.properties)).not.toContain('domainNameLabel');
    expect(interfacePart).toMatchObject({ name: `${name}-nic`, tags: { 'muster-name': name }, goesAlong: true });
    expect(made).toEqual([name, `${name}-nic`, `${name}-ip`, `${name}-os`]);
    expect(remainsIn(computeOf(scene))).toEqual([]);
  });

  it('has data disks of its own, under names of its own, and all of them go with it', async () => {
    const scene = openScene();
    const dataDisks = [
      { lun: 0, name: 'scratch', createOption: 'Empty', diskSizeGB: 100 },
      { lun: 3, createOption: 'Empty', diskSizeGB: 100 },
    ];
    const { properties } = addSet(computeOf(scene));
    const { storageProfile } = properties.virtualMachineProfile as { storageProfile: object };
    addSet(computeOf(scene), { profile: { storageProfile: { ...storageProfile, dataDisks } } });
    const backend = await openInSet(scene);
    const launch = aBatch(2);
    const outcomes = await scene.during(backend.create(launch, going()));
    const disks = remainsIn(computeOf(scene)).filter((name) => name.includes('-data-'));
    await scene.clock.advance(10_000);
    await scene.during(backend.delete(await scene.during(backend.list(going())), going()));
    await scene.clock.advance(10_000);

    expect(outcomes).toEqual(
      launch.names.map((name) => ({ name, operation: expect.stringContaining('/operations/') })),
    );
    expect(disks).toEqual(launch.names.flatMap((name) => [`${name}-data-0`, `${name}-data-3`]));
    expect(remainsIn(computeOf(scene))).toEqual([]);
  });

  it('is bought with the plan of the set, for images that want one', async () => {
    const scene = openScene();
    const plan = { publisher: 'nvidia', product: 'ngc-base-version', name: 'ngc-base-version-24' };
    addSet(computeOf(scene), { plan });
    await create(scene);

    expect(computeOf(scene).vms[0]?.plan).toEqual(plan);
  });

  it('is in one zone of the set, the machines of a launch in several', async () => {
    const scene = openScene();
    addSet(computeOf(scene), { zones: ['1', '2', '3'] });
    await create(scene, {}, 10);

    const zones = computeOf(scene).vms.map((vm) => vm.zones);
    expect(zones.every((one) => one?.length === 1)).toBe(true);
    expect(new Set(zones.flat())).toEqual(new Set(['1', '2', '3']));
  });

  it('costs one question about the set, however many are launched', async () => {
    const scene = openScene();
    addSet(computeOf(scene));
    await create(scene, {}, 10);

    expect([scene.fake.countOf('management.setGet'), scene.fake.countOf(PUT)]).toEqual([1, 10]);
  });

  it('is of another form once the profile has changed, and not otherwise', async () => {
    const scene = openScene();
    addSet(computeOf(scene));
    const backend = await openInSet(scene);
    const formNow = () => scene.during(backend.form?.(going()) ?? Promise.reject());
    const first = await formNow();
    const same = await formNow();
    addSet(computeOf(scene), { profile: { timeCreated: '2026-12-01T00:00:00Z', userData: 'changed' } });

    expect(same).toBe(first);
    expect(await formNow()).not.toBe(first);
  });

  it('costs what the size of the set costs', async () => {
    const scene = openScene();
    addSet(computeOf(scene));
    const backend = await openInSet(scene);

    expect(await scene.during(backend.pricePerHour?.(going()) ?? Promise.reject())).toBe(0.11);
  });
});

describe('a set is refused', () => {
  const uniform = { orchestrationMode: 'Uniform', virtualMachineProfile: {} } as const;

  it.each([
    [
      'that is uniform',
      (scene: AzureScene) => void addSet(computeOf(scene), { properties: uniform }),
      { kind: 'unsupported', message: 'Azure itself names its machines' },
      'orchestration mode Flexible, or use the backend azure_vm',
    ],
    [
      'that is not there, with the nearest name',
      (scene: AzureScene) => void addSet(computeOf(scene), { name: 'velda-agent-gpus' }),
      { kind: 'missing', message: `There is no scale set ${SET}` },
      'Did you mean velda-agent-gpus?',
    ],
    [
      'without a profile',
      (scene: AzureScene) => void addSet(computeOf(scene), { properties: { orchestrationMode: 'Flexible' } }),
      { kind: 'invalid', message: 'has no profile' },
      'azure_vm',
    ],
    [
      'that is scaled by a setting of Azure too, with the two ways out',
      (scene: AzureScene) => {
        const { id } = addSet(computeOf(scene));
        const properties = { enabled: true, targetResourceUri: id.toUpperCase() };
        computeOf(scene).autoscales.push({ id: 'a', name: 'by-cpu', properties });
      },
      { kind: 'unsupported', message: 'autoscale setting by-cpu' },
      '--name by-cpu --enabled false), or name a set without one',
    ],
    [
      'whose machines are made for Windows',
      (scene: AzureScene) => void addSet(computeOf(scene), { profile: { osProfile: { windowsConfiguration: {} } } }),
      { kind: 'unsupported', message: 'made for Windows' },
      'Linux',
    ],
  ])('%s', async (_what, prepare, { kind, message }, remedy) => {
    const scene = openScene();
    prepare(scene);
    const [outcome] = await create(scene);

    expect(outcome?.fault).toMatchObject({ kind, message: expect.stringContaining(message) });
    expect(outcome?.fault?.remedy).toContain(remedy);
    expect(scene.fake.countOf(PUT)).toBe(0);
  });

  it('before anything is launched: its form cannot be had either', async () => {
    const scene = openScene();
    addSet(computeOf(scene), { properties: uniform });
    const backend = await openInSet(scene);

    await expect(scene.during(backend.form?.(going()) ?? Promise.resolve(''))).rejects.toMatchObject({
      kind: 'unsupported',
    });
  });

  it('no longer, as soon as what was wrong is mended', async () => {
    const scene = openScene();
    addSet(computeOf(scene), { properties: uniform });
    const backend = await openInSet(scene);
    const before = await scene.during(backend.create(aBatch(1), going()));
    addSet(computeOf(scene));
    await scene.clock.advance(MINUTE_MS);
    const after = await scene.during(backend.create(aBatch(1), going()));

    expect([before, after].map(([one]) => one?.fault?.kind)).toEqual(['unsupported', undefined]);
  });

  it('not for want of the right to read autoscale settings', async () => {
    const scene = openScene();
    addSet(computeOf(scene));
    scene.fake.world.denied.add('Microsoft.Insights/autoscaleSettings/read');

    expect((await create(scene))[0]?.fault).toBeUndefined();
  });
});
