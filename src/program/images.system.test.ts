import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readEnvironment } from '#config/environment.ts';
import { systemClock } from '#core/clock.ts';
import { going } from '#core/testing/going.ts';
import { type Served, serveFake } from '#fakes/serve.ts';
import { type FakeEngine, openFakeEngine } from '../providers/docker/fake/engine.ts';
import { imagesPart } from './images.ts';

const BASE = 'node:24-bookworm-slim';
const quiet = { begin() {}, step() {}, line() {} };

// The agent is bundled once.
let cache: string;
beforeAll(() => {
  cache = mkdtempSync(join(tmpdir(), 'muster-image-cache-'));
});
afterAll(() => rmSync(cache, { recursive: true, force: true }));

let fake: FakeEngine;
let served: Served;
beforeEach(async () => {
  fake = openFakeEngine({ clock: systemClock, stepMs: 0 });
  fake.images.build(BASE);
  served = await serveFake(fake.handle, { port: 0 });
});
afterEach(() => served.close());

const local = ({ host = served.address.replace('http', 'tcp'), path = process.env.PATH } = {}) =>
  imagesPart(readEnvironment({ DOCKER_HOST: host, HOME: cache, XDG_CACHE_HOME: cache, PATH: path }), '0.1.0');

/** A folder with a Packer that builds nothing. */
function packerFolder(): string {
  const folder = join(cache, 'programs');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'packer'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  return folder;
}

const build = (kinds: readonly string[], more: object = {}) =>
  local().build({ kinds, output: quiet, signal: going(), ...more });

describe('images of this machine', () => {
  it('are built once: unchanged, three calls to the engine find them, and none of them builds', async () => {
    const [first] = await build(['docker']);
    const before = fake.calls.length;
    const [second] = await build(['docker']);

    expect(first).toMatchObject({ isBuilt: true, image: { reference: 'muster-agent:0.1.0' } });
    expect(second).toMatchObject({ isBuilt: false, image: { recipe: first?.recipe } });
    expect(fake.calls.slice(before).map(({ action }) => action)).toEqual(['version', 'info', 'images']);
  });

  it('for Kubernetes are those for Docker, under the very tag that is deployed', async () => {
    const ends = await build(['docker', 'kubernetes']);

    expect(ends.map(({ builder, isBuilt }) => [builder, isBuilt])).toEqual([
      ['docker', true],
      ['kubernetes', false],
    ]);
    expect(new Set(ends.map(({ image }) => image?.reference))).toEqual(new Set(['muster-agent:0.1.0']));
  });

  it('are not begun where the engine of one of them is missing', async () => {
    const away = local({ host: 'tcp://127.0.0.1:9' });
    const building = away.build({ kinds: ['all'], output: quiet, signal: going() });

    await expect(building).rejects.toMatchObject({ kind: 'missing', message: expect.stringContaining('docker') });
    expect(fake.builds.begun()).toBe(0);
  });

  it('are listed and dropped by their builder', async () => {
    await build(['docker'], { version: '1.2.0' });
    const [found] = await local().list({ kinds: ['docker'] }, going());
    const [image] = found?.images ?? [];
    expect(image).toMatchObject({ reference: 'muster-agent:1.2.0', builder: 'docker' });

    if (image) await local().drop(image, {}, going());

    expect((await local().list({ kinds: ['docker'] }, going()))[0]?.images).toEqual([]);
  });

  it('whose base cannot be pulled say what the registry said, and how to log in to it', async () => {
    const [end] = await build(['docker'], { set: { base: 'nothing:1' } });

    expect(end?.fault).toMatchObject({
      message: expect.stringContaining('pull access denied for nothing:1'),
      remedy: 'Check `base`. If it is private, log in to its registry by `docker login`, then repeat the command.',
    });
  });

  it('that need a setting name it as an option, of several with its builder', async () => {
    const here = local({ path: packerFolder() });
    const alone = here.build({ kinds: ['gcp-vm'], output: quiet, signal: going() });
    const together = here.build({ kinds: ['docker', 'gcp-vm'], output: quiet, signal: going() });

    await expect(alone).rejects.toMatchObject({ message: 'No project of Google Cloud is set.', at: '--set project' });
    await expect(together).rejects.toMatchObject({
      message: 'gcp-vm: No project of Google Cloud is set.',
      at: '--set gcp-vm.project',
    });
  });

  it('all say at once every program and every setting that keeps them from starting', async () => {
    const all = { kinds: ['all'], set: { 'aws-ami.regoin': 'us-west-2' } };
    const building = local({ path: cache }).build({ ...all, output: quiet, signal: going() });

    await expect(building).rejects.toMatchObject({
      kind: 'missing',
      message: expect.stringMatching(
        /^packer is missing: [^\n]+\nimage builder aws-ami: regoin: is not a known key[^\n]+\nazure-vm: There is no subscription.*\ngcp-vm: No project/s,
      ),
      at: 'image builder aws-ami regoin, --set azure-vm.subscription_id, --set gcp-vm.project',
      remedy: expect.stringContaining('apt-get install packer'),
    });
    expect(fake.builds.begun()).toBe(0);
  });

  it.each(['aws-ami', 'azure-vm', 'gcp-vm'])('by %s name a missing Packer beside a wrong setting', async (kind) => {
    const wrong = { kinds: [kind], set: { nothing: 'x' }, output: quiet, signal: going() };

    await expect(local({ path: cache }).build(wrong)).rejects.toMatchObject({
      message: expect.stringMatching(/^packer is missing: .*\n.*nothing: is not a known key/),
    });
  });

  it.each([
    ['a version that is none', { version: 'latest' }, 'is no version'],
    ['a registry that is none', { push: 'agent' }, 'is no name of a registry'],
    ['an unknown builder', { kinds: ['dockr'] }, 'There is no image builder dockr'],
    ['a setting of no builder of them', { set: { 'kubernetes.base': 'x' } }, 'kubernetes, which this command does not'],
    ['an unknown setting', { set: { bas: 'x' } }, 'did you mean base?'],
  ])('refuse %s before anything starts', async (_what, more, said) => {
    await expect(build(['docker'], more)).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining(said),
    });
    expect(fake.builds.begun()).toBe(0);
  });
});
