import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { documentOf } from '#sim/slice/cloud.ts';
import { openSliceWorld, type SliceWorld } from '#sim/slice/world.ts';
import type { FakeEngine } from './engine.ts';
import { DOCKER_SLICE, IMAGE } from './testing.ts';

const fakeOf = ({ cloud }: SliceWorld): FakeEngine => cloud.fake as unknown as FakeEngine;
const lineOf = (world: SliceWorld): string => world.life.workers.trouble(world.poolId('dev') ?? '')?.message ?? '';

describe('a pool that gets no containers', () => {
  it('says why and what to do in one line', async () => {
    const world = await openSliceWorld(DOCKER_SLICE);
    world.documents.write('pools', 'dev', documentOf(DOCKER_SLICE, 'dev', { backend: { image: 'muster/agnet' } }));
    await world.clock.advance(MINUTE_MS);

    expect(lineOf(world)).toContain('denied: Cannot pull muster/agnet: ');
    expect(lineOf(world)).toContain('pull access denied for muster/agnet');
    expect(lineOf(world)).toContain('Check the name of the image.');
    expect(lineOf(world)).not.toContain('\n');
  });

  it('because its engine is away says that, and not why a launch failed before', async () => {
    const world = await openSliceWorld(DOCKER_SLICE);
    const what = { kind: 'error', code: 'x', message: 'dial containerd.sock: connect refused', status: 500 } as const;
    fakeOf(world).failureRules.add({ action: 'start', times: 1_000, what });
    world.documents.write('pools', 'dev', documentOf(DOCKER_SLICE, 'dev'));
    await world.clock.advance(30 * SECOND_MS);
    const before = lineOf(world);
    fakeOf(world).failureRules.add({ action: 'list', times: 1_000, what: { kind: 'lost request' } });
    await world.clock.advance(2 * MINUTE_MS);

    expect(before).toContain('dial containerd.sock');
    expect(lineOf(world)).toMatch(/^unavailable: GET \/containers\/json of Docker .* got no answer/);
  });

  it('for want of room asks its next backend within a second', async () => {
    const world = await openSliceWorld(DOCKER_SLICE);
    const what = { kind: 'error', code: 'full', message: 'write /x: no space left on device', status: 500 } as const;
    fakeOf(world).images.build('muster/second');
    fakeOf(world).failureRules.add({ action: 'create', times: 1_000, when: ({ body }) => body.Image === IMAGE, what });
    const backends = [{ docker: { image: IMAGE } }, { docker: { image: 'muster/second' } }];
    const scaler = { backends, max_agents: 3, min_idle_agents: 1, max_idle_agents: 1 };
    world.documents.write('pools', 'dev', JSON.stringify({ name: 'dev', auto_scaler: scaler }));
    const creations = () => fakeOf(world).calls.filter(({ action }) => action === 'create');
    for (let waited = 0; creations().length === 0 && waited < 300; waited++) await world.clock.advance(100);
    await world.clock.advance(SECOND_MS);

    expect(creations().map(({ body }) => body.Image)).toEqual([IMAGE, 'muster/second']);
  });
});

it('a container that dies under a session is replaced, and the session runs again once it is gone', async () => {
  const world = await openSliceWorld(DOCKER_SLICE);
  world.documents.write('pools', 'dev', documentOf(DOCKER_SLICE, 'dev'));
  await world.clock.advance(MINUTE_MS);
  await world.life.submit('dev', 1, 5 * MINUTE_MS);
  await world.clock.advance(30 * SECOND_MS);
  const busy = fakeOf(world).containers[0];
  if (busy) fakeOf(world).die(busy, 137);
  await world.clock.advance(10 * MINUTE_MS);

  expect([...world.agents.runs.values()]).toEqual([2]);
  expect(world.machines().map(({ id }) => id)).not.toContain(busy?.id);
  expect(world.life.store.view.sessions.size).toBe(0);
});

it('an engine that was away for an hour is listed as soon as its events are followed again', async () => {
  const world = await openSliceWorld(DOCKER_SLICE);
  world.documents.write('pools', 'dev', documentOf(DOCKER_SLICE, 'dev'));
  await world.clock.advance(MINUTE_MS);
  const fake = fakeOf(world);
  const end = fake.failureRules.add({ times: Number.POSITIVE_INFINITY, what: { kind: 'lost request' } });
  fake.events.cut();
  await world.clock.advance(HOUR_MS);
  end();
  const seen = fake.calls.length;
  while (fake.events.listening() === 0) await world.clock.advance(100);
  await world.clock.advance(100);

  expect(fake.calls.slice(seen).map(({ action }) => action)).toContain('list');
  expect(lineOf(world)).toBe('');
});
