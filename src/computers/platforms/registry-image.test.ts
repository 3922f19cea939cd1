import { expect, it } from 'vitest';
import { registryImage } from './registry-image.ts';

const CONTEXT = { agentImage: 'muster/agent:0.1.0' };
const imageFor = (image: string | undefined, version?: string): string =>
  registryImage('gcp_cloud_run', { image, version }, CONTEXT);

it.each([
  ['host.example/a/agent', undefined, 'host.example/a/agent'],
  ['host.example/a/agent', '1.2.0', 'host.example/a/agent:1.2.0'],
  ['host.example:5000/agent', '1.2.0', 'host.example:5000/agent:1.2.0'],
  ['host.example/agent:1.1.0', '1.2.0', 'host.example/agent:1.1.0'],
  ['host.example/agent@sha256:ab', '1.2.0', 'host.example/agent@sha256:ab'],
])('the image %s in the version %s is pulled as %s', (image, version, pulled) => {
  expect(imageFor(image, version)).toBe(pulled);
});

it.each([
  [undefined, 'muster/agent:0.1.0'],
  ['1.2.0', 'muster/agent:1.2.0'],
])('without an image, in the version %s, a fault names what cannot be pulled and how to push it', (version, built) => {
  expect(() => imageFor(undefined, version)).toThrow(
    expect.objectContaining({
      kind: 'invalid',
      at: 'options.image',
      message: expect.stringContaining(built),
      remedy: expect.stringContaining('muster image build docker --push HOST/NAME'),
    }),
  );
});
