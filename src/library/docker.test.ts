import { describe, expect, it } from 'vitest';
import { DOCKER_SLICE } from '../providers/docker/fake/testing.ts';
import { DockerProvisioner } from './classes.ts';
import { openLibraryWorld } from './testing/world.ts';

describe('a computer on a Docker engine', () => {
  it('is set up, answers, and leaves nothing when it is torn down', async () => {
    const world = await openLibraryWorld(DOCKER_SLICE);
    const box = new (world.script().use(DockerProvisioner))({ image: 'muster/agent', log: world.log });
    expect(box.getStatus()).toBe('not_started');

    const setup = box.setup();
    expect(box.getStatus()).toBe('starting');
    await world.during(setup);
    expect(box.getStatus()).toBe('running');
    expect(await world.during(box.isRunning())).toBe(true);
    expect(box.endpoint).toEqual({ host: '127.0.0.1', port: 8000 });
    expect(world.ours()).toHaveLength(1);

    const teardown = box.teardown();
    expect(box.getStatus()).toBe('stopping');
    await world.during(teardown);
    expect(box.getStatus()).toBe('stopped');
    expect(world.ours()).toEqual([]);
  });
});
