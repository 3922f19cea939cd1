import { expect, test } from 'vitest';
import { FAULTS, Fault } from '#core/fault.ts';
import type { Image } from '../api/wire/image.ts';
import type { Local } from './command.ts';
import type { BuildImagesOptions, FoundImage, FoundImages, NamedImageEnd } from './images-local.ts';
import { type Answer, broken, openScene } from './testing.ts';

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

/** What the server answers; by default none is there. */
function open({
  ends = [end()],
  found = [],
  answer = () => broken('ECONNREFUSED'),
}: {
  ends?: readonly NamedImageEnd[];
  found?: readonly FoundImages[];
  answer?: Answer;
} = {}) {
  const built: BuildImagesOptions[] = [];
  const dropped: FoundImage[] = [];
  const images: Local['images'] = {
    host: 'here',
    kinds: async () => [],
    async build(options) {
      built.push(options);
      options.output.begin('docker');
      options.output.step('RUN true');
      options.output.line('done');
      for (const one of ends) await options.ended?.(one);
      return ends;
    },
    list: async () => found,
    drop: async (image) => void dropped.push(image),
  };
  const local = { simulations: [], images, kube: {}, server: unused, agent: unused } as unknown as Local;
  return { ...openScene(answer, { local }), built, dropped };
}

test('a build shows its output on stderr, and its image on stdout', async () => {
  const scene = open();

  const code = await scene.muster('image', 'build', 'docker', '--version', '1.2.0', '--set', 'network=host');

  expect(code).toBe(0);
  expect(scene.built).toMatchObject([{ kinds: ['docker'], version: '1.2.0', set: { network: 'host' } }]);
  expect(scene.errors()).toMatch(/^> RUN true\n {2}done\n/);
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

test('where neither a builder nor a server answers, each builder is named with its reason', async () => {
  const away = (builder: string, message: string) => ({ builder, images: [], fault: new Fault('invalid', message) });
  const scene = open({ found: [away('docker', 'docker is missing: none.\nmore'), away('aws-ami', 'No region.')] });

  expect(await scene.muster('image', 'show', 'muster-agent:1.2.0')).toBe(FAULTS.unavailable.exit);
  expect(scene.errors()).toContain('and no server:\n  docker: docker is missing: none.\n  aws-ami: No region.\n');
});

test('an image that was never built is missing, with the command that lists those that were', async () => {
  const scene = open({ found: [{ builder: 'docker', images: [IMAGE] }] });

  expect(await scene.muster('image', 'show', 'muster-agent:9.9.9')).toBe(FAULTS.missing.exit);
  expect(scene.errors()).toContain('muster image ls');
});

test('an image that is named without its version is the only one there, or its versions are named', async () => {
  const other = { ...IMAGE, version: '1.3.0', reference: 'muster-agent:1.3.0' };
  const one = open({ found: [{ builder: 'docker', images: [IMAGE] }] });
  const two = open({ found: [{ builder: 'docker', images: [IMAGE, other] }] });

  expect(await one.muster('image', 'show', 'muster-agent')).toBe(0);
  expect(await two.muster('image', 'rm', 'muster-agent')).toBe(FAULTS.conflict.exit);
  expect(two.errors()).toContain('muster-agent:1.2.0, muster-agent:1.3.0');
  expect(two.dropped).toEqual([]);
});

test('removes the image of that name by the builder that has it', async () => {
  const scene = open({ found: [{ builder: 'docker', images: [IMAGE] }] });

  expect(await scene.muster('image', 'rm', 'muster-agent:1.2.0')).toBe(0);
  expect(scene.dropped).toMatchObject([IMAGE]);
});

const RECORD: Image = {
  id: 'r1',
  name: 'muster-agent',
  version: '1.1.0',
  recipe: 'fedcba9876543210',
  ids: { 'us-west-2': 'ami-1' },
  reference: 'muster-agent-1.1.0-fedcba98',
  builder: 'aws-ami',
  cloud: 'aws:us-west-2',
  host: 'build-7',
  build: 'b1',
  built_at: '2026-01-01T00:00:00.000Z',
  by: 'token:ci',
};
const records =
  (...items: Image[]): Answer =>
  ({ method }) =>
    method === 'GET' ? { items } : {};
const seen: FoundImages = { builder: 'docker', cloud: IMAGE.cloud, images: [IMAGE] };
const recordOf = (over: Partial<Image> = {}): Image => {
  const { builtAt, ...image } = IMAGE;
  return { ...RECORD, ...image, ids: { ...image.ids }, built_at: new Date(builtAt).toISOString(), ...over };
};

test('a build is recorded by the server with its output, also one that fails', async () => {
  const fault = new Fault('invalid', 'Step 1 of 1 ended with exit code 7: false', { at: 'steps[0]' });
  const failed = end({ builder: 'kubernetes', image: undefined, fault, log: ['> false', 'no'] });
  const scene = open({ ends: [end({ log: ['> true'], recipe: 'abc' }), failed], answer: () => ({}) });

  await scene.muster('image', 'build', 'docker', 'kubernetes');

  expect(scene.asked.map(({ method, path }) => `${method} ${path}`)).toEqual(Array(2).fill('POST /image-builds'));
  expect(scene.asked.map(({ body }) => body)).toMatchObject([
    { builder: 'docker', outcome: 'built', host: 'here', log: '> true', image: { reference: IMAGE.reference } },
    { builder: 'kubernetes', outcome: 'failed', log: '> false\nno', error: fault.message },
  ]);
  expect(scene.errors()).not.toContain('keeps no record');
});

test('without a server the image is built all the same, and the command says that there is no record', async () => {
  const scene = open();

  expect(await scene.muster('image', 'build', 'docker')).toBe(0);
  expect(scene.output()).toContain('muster-agent:1.2.0');
  expect(scene.errors()).toMatch(/The server keeps no record of this build: No Muster server answers at/);
});

test('a server that never answers holds a build up for 20 seconds at most', async () => {
  const scene = open({
    answer: ({ signal }) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('late')))),
  });

  const running = scene.muster('image', 'build', 'docker');
  await scene.clock.advance(20_000);

  expect(await running).toBe(0);
  expect(scene.errors()).toContain('keeps no record');
});

test('lists what this machine sees together with what the server knows of others', async () => {
  const scene = open({ found: [seen], answer: records(recordOf({ id: 'r2', host: 'here' }), RECORD) });

  await scene.muster('image', 'ls');

  expect(scene.output().split('\n').slice(1, 3)).toEqual([
    expect.stringMatching(/^muster-agent:1\.2\.0 .* here$/),
    expect.stringMatching(/^muster-agent-1\.1\.0-fedcba98 .* on build-7$/),
  ]);
});

test('a record of this machine that its builder no longer sees is not listed', async () => {
  const gone = recordOf({ id: 'r2', host: 'here', reference: 'muster-agent:1.0.0' });
  const scene = open({ found: [seen], answer: records(gone) });

  await scene.muster('image', 'ls');

  expect(scene.output()).not.toContain('1.0.0');
});

test('shows by whom and where an image was built, and how to read the output of its build', async () => {
  const scene = open({ found: [seen], answer: records(recordOf({ host: 'here' })) });

  await scene.muster('image', 'show', 'muster-agent:1.2.0');

  expect(scene.output()).toMatch(/Built on +here\nBuilt by +token:ci\nOutput +muster image log b1/);
});

test('an image of another machine is removed there alone; here only its record can be dropped', async () => {
  const scene = open({ found: [seen], answer: records(RECORD) });

  expect(await scene.muster('image', 'rm', RECORD.reference)).not.toBe(0);
  expect(scene.errors()).toContain('was built by aws-ami on build-7');
  expect(await scene.muster('image', 'rm', RECORD.reference, '--forget')).toBe(0);
  expect(scene.asked.at(-1)).toMatchObject({ method: 'DELETE', path: '/images/r1' });
  expect(scene.dropped).toEqual([]);
});

test('an image that is removed is forgotten by the server too', async () => {
  const scene = open({ found: [seen], answer: records(recordOf({ host: 'here' })) });

  expect(await scene.muster('image', 'rm', 'muster-agent:1.2.0')).toBe(0);
  expect(scene.dropped).toMatchObject([IMAGE]);
  expect(scene.asked.at(-1)).toMatchObject({ method: 'DELETE', path: '/images/r1' });
});
