import { describe, expect, it } from 'vitest';
import type { FaultKind } from '#core/fault.ts';
import type { Remote } from './fake/images.ts';
import { aBatch, going, IMAGE, openBackend, openScene } from './fake/testing.ts';
import { splitImage } from './images.ts';

const OTHER = 'team/agent:2';

async function launched(remote: Remote | undefined, config: object = {}) {
  const scene = openScene();
  if (remote) scene.fake.images.remote.set(OTHER, remote);
  const backend = await openBackend(scene, { image: OTHER, ...config });
  const launch = aBatch(3);
  const outcomes = await scene.during(backend.create(launch, going()).catch((thrown) => [{ name: '', fault: thrown }]));
  return { scene, backend, outcomes, pulls: scene.fake.countOf('pull') };
}

describe('an image that the engine lacks', () => {
  it('is pulled once for all containers of a launch', async () => {
    const { scene, outcomes, pulls } = await launched({ content: 'two' });

    expect(outcomes.filter(({ fault }) => fault)).toEqual([]);
    expect(scene.fake.containers).toHaveLength(3);
    expect(pulls).toBe(1);
    expect(scene.lines.filter((line) => line.includes('image'))).toHaveLength(2);
  });

  it.each<readonly [string, Remote | undefined, FaultKind, RegExp]>([
    ['nobody has it', undefined, 'denied', /pull access denied for team\/agent/],
    [
      'has no such tag',
      { error: 'manifest for team/agent:2 not found: manifest unknown' },
      'missing',
      /manifest unknown/,
    ],
    ['is another’s', { error: 'unauthorized: authentication required' }, 'unauthenticated', /authentication required/],
    [
      'is asked for too often',
      { error: 'toomanyrequests: You have reached your pull rate limit' },
      'throttled',
      /rate limit/,
    ],
    [
      'does not fit the disk',
      { error: 'write /var/lib/docker/x: no space left on device' },
      'exhausted',
      /no space left/,
    ],
    [
      'cannot be reached',
      { refusal: 'Get "https://r/v2/": dial tcp: lookup r: no such host' },
      'exhausted',
      /no such host/,
    ],
  ])('%s: the fault says so', async (_what, remote, kind, message) => {
    const { outcomes, scene } = await launched(remote);

    for (const { fault } of outcomes) {
      expect(fault.kind).toBe(kind);
      expect(fault.message).toMatch(/^Cannot pull team\/agent:2: /);
      expect(fault.message).toMatch(message);
      expect(fault.remedy).not.toBe('');
    }
    expect(scene.fake.containers).toEqual([]);
  });

  it('that Muster itself makes and that is neither there nor in a registry: the remedy is the command that builds it', async () => {
    const scene = openScene();
    const backend = await openBackend(scene, { image: 'muster-agent:0.1.0' });

    const [outcome] = await scene.during(backend.create(aBatch(1), going()));

    expect(outcome?.fault?.message).toMatch(/^Cannot pull muster-agent:0\.1\.0: /);
    expect(outcome?.fault?.remedy).toBe('Build it: `muster image build docker`.');
  });

  it('is not pulled where the pool says never', async () => {
    const { outcomes, pulls } = await launched({ content: 'two' }, { pull: 'never' });

    expect(outcomes.map(({ fault }) => fault?.kind)).toEqual(['missing', 'missing', 'missing']);
    expect(outcomes[0]?.fault?.message).toContain('No such image: team/agent:2');
    expect(pulls).toBe(0);
  });

  it('goes on being pulled when a call gives up in time, and the next one joins', async () => {
    const scene = openScene();
    scene.fake.images.remote.set(OTHER, { content: 'two' });
    scene.fake.failureRules.add({ action: 'pull', what: { kind: 'slow', ms: 90_000 } });
    const backend = await openBackend(scene, { image: OTHER });
    const impatient = new AbortController();
    const first = backend.create(aBatch(1), going());
    const other = backend.create(aBatch(1), impatient.signal).catch((thrown) => thrown);
    await scene.clock.advance(10_000);
    impatient.abort();

    expect(await other).toMatchObject({ kind: 'unavailable' });
    const [outcome] = await scene.during(first);
    expect(outcome?.fault).toMatchObject({ kind: 'exhausted', message: 'team/agent:2 is still being pulled.' });
    expect(await scene.during(backend.create(aBatch(1), going()))).toEqual([{ name: aBatch(1).names[0] }]);
    expect(scene.fake.countOf('pull')).toBe(1);
  });

  it('is asked for with the login of the pool', async () => {
    const { scene } = await launched({ content: 'two' }, { registryUsername: 'op', registryPassword: 'planted' });
    const [pull] = scene.fake.calls.filter(({ action }) => action === 'pull');
    const shown = Buffer.from(pull?.headers.get('x-registry-auth') ?? '', 'base64url').toString();

    expect(JSON.parse(shown)).toEqual({ username: 'op', password: 'planted' });
    expect(scene.lines.join()).not.toContain('planted');
  });
});

describe('an image that is there', () => {
  it('is pulled before each launch where the pool says always', async () => {
    const scene = openScene();
    scene.fake.images.remote.set(`${IMAGE}:latest`, { content: 'newer' });
    const backend = await openBackend(scene, { pull: 'always' });
    await scene.during(backend.create(aBatch(1), going()));

    expect(scene.fake.countOf('pull')).toBe(1);
  });

  it('gives containers another form when another has its name', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    const forms = [await scene.during(backend.form?.(going()) ?? Promise.resolve(''))];
    scene.fake.images.build(IMAGE, 'another content');
    forms.push(await scene.during(backend.form?.(going()) ?? Promise.resolve('')));

    expect(new Set(forms).size).toBe(2);
  });
});

it.each([
  ['agent', 'agent', 'latest'],
  ['team/agent:2', 'team/agent', '2'],
  ['localhost:5000/agent', 'localhost:5000/agent', 'latest'],
  ['agent@sha256:ab', 'agent', 'sha256:ab'],
])('%s is %s in version %s', (image, name, tag) => {
  expect(splitImage(image)).toEqual({ name, tag });
});
