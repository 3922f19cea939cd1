import { expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { aBatch, createdBy } from '../../../conformance/scene.ts';
import { openComputeScene } from '../fake/compute/testing/scene.ts';

const ARM_DEBIAN = 'projects/debian-cloud/global/images/debian-12-bookworm-arm64-v20261110';
const ARM_UBUNTU = 'projects/ubuntu-os-cloud/global/images/ubuntu-2404-noble-arm64-v20261105';

it.each([
  ['e2-standard-4', undefined, 'projects/debian-cloud/global/images/debian-12-bookworm-v20261110'],
  ['t2a-standard-4', undefined, ARM_DEBIAN],
  ['c4a-standard-4', 'ubuntu-os-cloud/ubuntu-2404-lts-amd64', ARM_UBUNTU],
  ['e2-standard-4', 'my-project/velda-agent', 'projects/my-project/global/images/velda-agent-v3'],
  ['c4a-standard-4', 'my-project/velda-agent', 'projects/my-project/global/images/velda-agent-arm64-v2'],
])(
  'an instance of the type %s with the image %s boots from an image of its architecture',
  async (type, image, path) => {
    const scene = openComputeScene({ pageSize: 1 });
    const backend = await scene.openInstances({ machineType: type, ...(image && { image }) });
    const [outcome] = await createdBy(scene, backend, aBatch(1));
    const { body } = scene.fake.calls.findLast(({ action }) => action === 'compute.instances.bulkInsert') ?? {};

    expect(outcome?.fault).toBeUndefined();
    expect(JSON.stringify(body)).toContain(`"sourceImage":"${path}"`);
  },
);

it('a family without an image of the architecture of the type is refused with a remedy', async () => {
  const scene = openComputeScene();
  scene.compute.families.set('my-project/only-x86', 'only-x86-v1');
  const backend = await scene.openInstances({ machineType: 't2a-standard-4', image: 'my-project/only-x86' });

  await expect(scene.during(backend.create(aBatch(1), going()))).rejects.toMatchObject({
    kind: 'invalid',
    message:
      'The image family only-x86 of the project my-project has no image of the architecture ARM64, which t2a-standard-4 needs.',
  });
});

it('any image of a family counts where the account may not ask for the architecture of a type', async () => {
  const scene = openComputeScene();
  const what = { kind: 'error', code: 'forbidden', status: 403 } as const;
  scene.fake.failureRules.add({ action: 'compute.machineTypes.get', times: 100, what });
  const backend = await scene.openInstances();
  const [outcome] = await createdBy(scene, backend, aBatch(1));

  expect(outcome?.fault).toBeUndefined();
});
