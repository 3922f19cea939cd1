import { describe, expect, test } from 'vitest';
import { aConfigMap, CONFIG_MAPS, openScene, type TestWatch } from '../testing.ts';

const shown = ({ events }: TestWatch): string[] =>
  events.map(({ type, object }) => `${type} ${object.metadata.name ?? object.metadata.resourceVersion}`);

describe('a watch', () => {
  test('shows what changes after its revision, in order', async () => {
    const { post, patch, remove, get, watch, clock } = openScene();
    await post(CONFIG_MAPS, aConfigMap('before'));
    const { body } = await get(CONFIG_MAPS);

    await post(CONFIG_MAPS, aConfigMap('a'));
    const seen = await watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    await patch(`${CONFIG_MAPS}/a`, { data: { key: '1' } });
    await remove(`${CONFIG_MAPS}/a`);
    await clock.settle();

    expect(shown(seen)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
    const versions = seen.events.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
  });

  test('without a revision shows first what is there', async () => {
    const { post, watch, clock } = openScene();
    await post(CONFIG_MAPS, aConfigMap('a'));

    const seen = await watch(`${CONFIG_MAPS}?watch=true`);
    await clock.settle();

    expect(shown(seen)).toEqual(['ADDED a']);
  });

  test('of a part shows what enters and leaves it', async () => {
    const { post, patch, watch, clock } = openScene();
    const seen = await watch(`${CONFIG_MAPS}?watch=1&labelSelector=pool=x`);

    await post(CONFIG_MAPS, aConfigMap('a', {}, { pool: 'y' }));
    await patch(`${CONFIG_MAPS}/a`, { metadata: { labels: { pool: 'x' } } });
    await patch(`${CONFIG_MAPS}/a`, { metadata: { labels: { pool: 'y' } } });
    await clock.settle();

    expect(shown(seen)).toEqual(['ADDED a', 'DELETED a']);
    expect(seen.events[1]?.object.metadata.labels).toEqual({ pool: 'x' });
  });

  test('ends at its time, with a bookmark shortly before', async () => {
    const { watch, clock, fake } = openScene();
    const seen = await watch(`${CONFIG_MAPS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=30`);

    await clock.advance(28_000);
    expect(shown(seen)).toEqual([`BOOKMARK ${fake.world.store.revision}`]);
    expect(seen.ended()).toBeUndefined();
    await clock.advance(2_000);

    expect(seen.ended()).toBe('end');
  });

  test('from a revision that is forgotten gets an error in place of events', async () => {
    const { post, watch, clock, get, fake } = openScene({ behaviour: { historyLimit: 3 } });
    const { body } = await get(CONFIG_MAPS);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await post(CONFIG_MAPS, aConfigMap(name));

    const seen = await watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    await clock.settle();

    expect(seen.events).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }]);
    expect(seen.ended()).toBe('end');
    expect(fake.watches.count()).toBe(0);
  });

  test('breaks when the API server restarts, and cannot be taken up again from before', async () => {
    const { watch, clock, get, fake, post } = openScene();
    await post(CONFIG_MAPS, aConfigMap('a'));
    const { body } = await get(CONFIG_MAPS);
    const first = await watch(`${CONFIG_MAPS}?watch=1`);
    await post(CONFIG_MAPS, aConfigMap('b'));

    fake.restart();
    await clock.settle();
    const second = await watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    await clock.settle();

    expect(first.ended()).toMatchObject({ message: 'fetch failed' });
    expect(second.events).toMatchObject([{ type: 'ERROR', object: { code: 410 } }]);
  });

  test('that is half open gets no byte more, and stays', async () => {
    const { watch, clock, fake, post } = openScene();
    const seen = await watch(`${CONFIG_MAPS}?watch=1&timeoutSeconds=60`);

    fake.watches.stall('configmaps');
    await post(CONFIG_MAPS, aConfigMap('a'));
    await clock.advance(3_600_000);

    expect(seen.events).toEqual([]);
    expect(seen.ended()).toBeUndefined();
    seen.stop();
    await clock.settle();
    expect(seen.ended()).toMatchObject({ name: 'AbortError' });
    expect(fake.watches.count()).toBe(0);
  });

  test('that is cut ends without an error', async () => {
    const { watch, clock, fake } = openScene();
    const seen = await watch(`${CONFIG_MAPS}?watch=1`);

    fake.watches.cut();
    await clock.settle();

    expect(seen.ended()).toBe('end');
  });

  test('can begin with the initial objects, unless the server is old', async () => {
    const { post, watch, get, clock, fake } = openScene();
    await post(CONFIG_MAPS, aConfigMap('a'));
    const path = `${CONFIG_MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;

    const seen = await watch(path);
    await clock.settle();
    fake.behaviour.streamsLists = false;
    const refused = await get(path);

    expect(seen.events).toMatchObject([
      { type: 'ADDED' },
      { type: 'BOOKMARK', object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } },
    ]);
    expect(refused.body).toMatchObject({ code: 422 });
  });
});
