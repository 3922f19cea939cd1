import { expect, it } from 'vitest';
import { placeOn } from './platforms.ts';

const SUBSCRIPTION = '00000000-0000-0000-0000-000000000001';
const CONTEXT = { variable: () => undefined, agentImage: 'muster-agent:0.1.0' };

/** The keys of the backend that name an image. */
function imageOf(platform: string, options: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  const [config = {}] = Object.values(placeOn(platform, options, CONTEXT).backend);
  return Object.fromEntries(Object.entries(config as object).filter(([key]) => /^(ami_|image)/.test(key)));
}

const GALLERY = `/subscriptions/${SUBSCRIPTION}/resourceGroups/commandlab-rg/providers/Microsoft.Compute/galleries/muster`;

it.each([
  ['aws', {}, { ami_name: 'muster-agent-*' }],
  ['aws', { image_id: 'ami-0123456789abcdef0' }, { ami_id: 'ami-0123456789abcdef0' }],
  ['aws', { image_id: 'standard' }, {}],
  ['gcp', { project: 'my-project' }, { image: 'my-project/muster-agent' }],
  ['gcp', { project: 'my-project', source_image: 'debian-cloud/debian-12' }, { image: 'debian-cloud/debian-12' }],
  ['gcp', { project: 'my-project', source_image: 'standard' }, {}],
  ['azure', { subscription_id: SUBSCRIPTION }, { image: `${GALLERY}/images/muster-agent` }],
  ['azure', { subscription_id: SUBSCRIPTION, image_id: 'standard' }, {}],
])('on %s with %j a machine boots from %j', (platform, options, keys) => {
  expect(imageOf(platform, options as unknown as Readonly<Record<string, string>>)).toEqual(keys);
});

it.each([
  ['local', { docker: 'muster-agent:0.1.0' }],
  ['kubernetes', { kubernetes_deployment: 'muster-agent:0.1.0' }],
])('on %s a container runs the image that was built on this machine', (platform, images) => {
  const { backend } = placeOn(platform, {}, CONTEXT);

  expect(Object.entries(backend).map(([kind, config]) => [kind, (config as { image: string }).image])).toEqual(
    Object.entries(images),
  );
});

it.each([
  ['aws_eks', { cluster_name: 'c', region: 'r' }],
  ['azure_aks', { cluster_name: 'c', resource_group: 'g' }],
  ['gcp_gke', { cluster_name: 'c', region: 'r', project_id: 'my-project' }],
])('on %s, which cannot pull from this machine, an image is needed', (platform, options) => {
  const context = { ...CONTEXT, variable: () => SUBSCRIPTION };

  expect(() => placeOn(platform, options as Readonly<Record<string, string>>, context)).toThrow(
    expect.objectContaining({
      kind: 'invalid',
      at: 'options.image',
      remedy: expect.stringContaining('muster image build docker --push HOST/NAME'),
    }),
  );
});
