import { expect, test } from 'vitest';
import { FAULTS, Fault } from '#core/fault.ts';
import type { Local } from './command.ts';
import type { BuildImagesOptions, FoundImage, FoundImages, NamedImageEnd } from './images-local.ts';
import { openScene } from './testing.ts';

const unused = (): never => {
  throw new Fault('internal', 'Nothing else is asked.');
};

const IMAGE: FoundImage = {
  name: 'muster-agent',
  version: '1.2.0',
  recipe: '0123456789abcdef',
  ids: { '': 'sha256:12ab' },
  reference: 'muster-agent:1.2.0',
  builtAt: 1_000,
  builder: 'docker',
  cloud: 'docker:unix:///var/run/docker.sock',
};

const end = (over: Partial<NamedImageEnd> = {}): NamedImageEnd => ({
  builder: 'docker',
  cloud: IMAGE.cloud,
  version: '1.2.0',
  image: IMAGE,
  isBuilt: true,
  startedAt: 0,
  endedAt: 1_500,
  log: [],
  ...over,
});

function open({
  ends = [end()],
  found = [],
}: {
  ends?: readonly NamedImageEnd[];
  found?: readonly FoundImages[];
} = {}) {
  const built: BuildImagesOptions[] = [];
  const dropped: FoundImage[] = [];
  const images: Local['images'] = {
    kinds: async () => [],
    async build(options) {
      built.push(options);
      options.output.begin('docker');
      options.output.step('RUN true');
      options.output.line('done');
      return ends;
    },
    list: async () => found,
    drop: async (image) => void dropped.push(image),
  };
  const local = { simulations: [], images, kube: {}, server: unused, agent: unused } as unknown as Local;
  return { ...openScene(unused, { local }), built, dropped };
}

test('a build shows its output on stderr, and its image on stdout', async () => {
  const scene = open();

  const code = await scene.muster('image', 'build', 'docker', '--version', '1.2.0', '--set', 'network=host');

  expect(code).toBe(0);
  expect(scene.built).toMatchObject([{ kinds: ['docker'], version: '1.2.0', set: { network: 'host' } }]);
  expect(scene.errors()).toBe('> RUN true\n  done\n');
  expect(scene.output()).toBe('muster-agent:1.2.0 (docker): built in 1.5 s\n');
});

test('an image of an equal recipe is said to be there', async () => {
  const scene = open({ ends: [end({ isBuilt: false })] });
  await scene.muster('image', 'build', 'docker');

  expect(scene.output()).toBe('muster-agent:1.2.0 (docker): its recipe has not changed, so nothing was built\n');
});

test('a build that fails exits with another code than 0, and says why', async () => {
  const fault = new Fault('invalid', 'Step 2 of 2 ended with exit code 7: false\n  no such thing', { at: 'steps[1]' });
  const scene = open({ ends: [end({ image: undefined, fault })] });

  const code = await scene.muster('build-docker-image');

  expect(code).toBe(FAULTS.invalid.exit);
  expect(scene.errors()).toContain('exit code 7');
  expect(scene.errors()).toContain('no such thing');
  expect(scene.output()).toBe('');
});

test('of several builds those that succeed are shown, and the command fails like the first that does not', async () => {
  const fault = new Fault('unavailable', 'The engine is away.');
  const scene = open({ ends: [end(), end({ builder: 'gcp-vm', image: undefined, fault })] });

  const code = await scene.muster('image', 'build', 'all', '-o', 'json');

  expect(code).toBe(FAULTS.unavailable.exit);
  expect(JSON.parse(scene.output())).toEqual([
    expect.objectContaining({ builder: 'docker', built: true, reference: 'muster-agent:1.2.0' }),
    expect.objectContaining({ builder: 'gcp-vm', error: 'The engine is away.' }),
  ]);
  expect(scene.errors()).toContain('gcp-vm: The engine is away.');
});

test.each([
  ['build-docker-image', 'docker'],
  ['build-aws-ami', 'aws-ami'],
  ['build-azure-vm', 'azure-vm'],
  ['build-gcp-vm', 'gcp-vm'],
  ['build-kubernetes-image', 'kubernetes'],
  ['build-all-images', 'all'],
])('%s builds %s', async (command, kind) => {
  const scene = open();

  expect(await scene.muster(command, '--version', '1.2.0')).toBe(0);
  expect(scene.built).toMatchObject([{ kinds: [kind], version: '1.2.0' }]);
});

test('lists each image once, and leaves out builders that cannot answer', async () => {
  const away = { builder: 'gcp-vm', images: [], fault: new Fault('missing', 'packer is missing.') };
  const same = { builder: 'kubernetes', images: [{ ...IMAGE, builder: 'kubernetes' }] };
  const scene = open({ found: [{ builder: 'docker', images: [IMAGE] }, same, away] });

  expect(await scene.muster('image', 'ls')).toBe(0);
  expect(scene.output().match(/muster-agent:1\.2\.0/g)).toHaveLength(1);
});

test('an image that was never built is missing, with the command that lists those that were', async () => {
  const scene = open({ found: [{ builder: 'docker', images: [IMAGE] }] });

  expect(await scene.muster('image', 'show', 'muster-agent:9.9.9')).toBe(FAULTS.missing.exit);
  expect(scene.errors()).toContain('muster image ls');
});

test('removes the image of that name by the builder that has it', async () => {
  const scene = open({ found: [{ builder: 'docker', images: [IMAGE] }] });

  expect(await scene.muster('image', 'rm', 'muster-agent:1.2.0')).toBe(0);
  expect(scene.dropped).toEqual([IMAGE]);
});
