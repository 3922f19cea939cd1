import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { going } from '#core/testing/going.ts';
import { aBatch, createdBy } from '../../../conformance/scene.ts';
import { addVersion } from '../fake/compute/galleries.ts';
import { type AzureScene, computeOf, GROUP, openBackend, openScene, SUBSCRIPTION } from '../fake/testing.ts';
import { type ImageVersion, newestOf, newestWanted } from './versions.ts';

const IMAGE = `/subscriptions/${SUBSCRIPTION}/resourceGroups/${GROUP}/providers/Microsoft.Compute/galleries/velda/images/agent`;

describe('the newest version of an image', () => {
  const version = (name: string, profile: object = {}, provisioningState = 'Succeeded'): ImageVersion => ({
    id: `${IMAGE}/versions/${name}`,
    name,
    properties: { provisioningState, publishingProfile: { targetRegions: [{ name: 'West Europe' }], ...profile } },
  });

  it.each([
    ['the highest number, not the last name', [version('1.9.0'), version('1.10.0'), version('1.2.30')], '1.10.0'],
    ['one that is excluded from latest', [version('1.0.0'), version('2.0.0', { excludeFromLatest: true })], '1.0.0'],
    [
      'one that is excluded in this location',
      [version('1.0.0'), version('2.0.0', { targetRegions: [{ name: 'westeurope', excludeFromLatest: true }] })],
      '1.0.0',
    ],
    [
      'one that this location does not have',
      [version('1.0.0'), version('2.0.0', { targetRegions: [{ name: 'eastus' }] })],
      '1.0.0',
    ],
    ['one that is still made', [version('1.0.0'), version('2.0.0', {}, 'Creating')], '1.0.0'],
    ['one that gets more regions', [version('1.0.0'), version('2.0.0', {}, 'Updating')], '2.0.0'],
    ['one without a number', [version('1.0.0'), version('next')], '1.0.0'],
    ['none of none', [], undefined],
  ])('is chosen with regard to %s', (_what, versions, name) => {
    expect(newestOf(versions, 'westeurope')?.name).toBe(name);
  });

  it.each([
    [IMAGE, IMAGE],
    [`${IMAGE}/versions/latest`, IMAGE],
    [`${IMAGE}/versions/1.2.0`, undefined],
    ['Canonical:ubuntu-24_04-lts:server:latest', undefined],
    [IMAGE.replace('galleries/velda/', ''), undefined],
  ])('is what %s asks for: %s', (image, wanted) => {
    expect(newestWanted(image)).toBe(wanted);
  });
});

describe('a machine from a gallery image', () => {
  const versionsOf = (scene: AzureScene) => computeOf(scene).references.galleries;
  const bootsFrom = (scene: AzureScene): string => JSON.stringify(computeOf(scene).vms.at(-1)?.properties);

  it.each([IMAGE, `${IMAGE}/versions/latest`])(
    'named %s boots from its newest version, which is its form',
    async (image) => {
      const scene = openScene({ pageSize: 1 });
      for (const name of ['1.9.0', '1.10.0', '1.2.0']) addVersion(versionsOf(scene), { image: IMAGE, name });
      const backend = await openBackend(scene, { image });
      await createdBy(scene, backend, aBatch(1));

      expect(bootsFrom(scene)).toContain(`"id":"${IMAGE}/versions/1.10.0"`);
      expect(await scene.during(backend.form?.(going()) as Promise<string>)).toBe(`${IMAGE}/versions/1.10.0`);
      addVersion(versionsOf(scene), { image: IMAGE, name: '1.11.0' });
      await scene.clock.advance(6 * MINUTE_MS);
      expect(await scene.during(backend.form?.(going()) as Promise<string>)).toBe(`${IMAGE}/versions/1.11.0`);
    },
  );

  it('of one version has no form, and asks for no versions', async () => {
    const scene = openScene();
    addVersion(versionsOf(scene), { image: IMAGE, name: '1.0.0' });
    const backend = await openBackend(scene, { image: `${IMAGE}/versions/1.0.0` });
    await createdBy(scene, backend, aBatch(1));

    expect(bootsFrom(scene)).toContain(`"id":"${IMAGE}/versions/1.0.0"`);
    expect([backend.form, scene.fake.countOf('management.versionList')]).toEqual([undefined, 0]);
  });

  it('without a version in its location is refused with a remedy', async () => {
    const scene = openScene();
    addVersion(versionsOf(scene), { image: IMAGE, name: '1.0.0', regions: ['eastus'] });
    const backend = await openBackend(scene, { image: IMAGE });

    const [outcome] = await scene.during(backend.create(aBatch(1), going()));

    expect(outcome?.fault).toMatchObject({
      kind: 'missing',
      message: 'The image agent of the gallery velda has no version in westeurope.',
      remedy: 'Replicate a version to westeurope that is not excluded from latest, or correct image.',
    });
  });

  it('that does not exist is refused as Azure says it', async () => {
    const scene = openScene();
    const backend = await openBackend(scene, { image: IMAGE });

    const [outcome] = await scene.during(backend.create(aBatch(1), going()));

    expect(outcome?.fault).toMatchObject({
      kind: 'missing',
      message: expect.stringContaining("'velda/agent' not found"),
    });
  });
});
