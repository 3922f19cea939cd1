import { expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { withoutManagedFields } from './object.ts';
import { PODS } from './resource.ts';
import { sharedKube, sharedReflector } from './shared.ts';
import { aList, aPod, openScripted, openStream } from './testing.ts';

function setUp() {
  const scripted = openScripted();
  const streams: ReturnType<typeof openStream>[] = [];
  scripted.script.answering = ({ query }) => {
    if (!query.watch) return aList(10, [aPod('a', 1)]);
    const stream = openStream();
    streams.push(stream);
    return stream.response;
  };
  return { ...scripted, streams };
}

const OPTIONS = { resource: PODS, query: { namespace: 'ml' }, keep: withoutManagedFields };

it('readers of the same objects share one view, which lasts until the last of them closes it', async () => {
  const { requests, streams, ...deps } = setUp();
  const { clock } = deps;
  const first = sharedReflector(deps, OPTIONS);
  const second = sharedReflector(deps, OPTIONS);
  await clock.settle();
  const heard: string[] = [];
  first.onChange((key) => heard.push(`first ${key}`));
  second.onChange((key) => heard.push(`second ${key}`));
  await first.close();
  await first.close();
  streams[0]?.send('ADDED', aPod('b', 11));
  await clock.settle();

  expect(requests).toHaveLength(2);
  expect(heard).toEqual(['second ml/b']);
  await second.ready(going());
  expect(requests[1]?.signal.aborted).toBe(false);
  await second.close();
  expect(requests[1]?.signal.aborted).toBe(true);
});

it('other objects, or other parts of them, are another view of the same client', async () => {
  const { requests, ...deps } = setUp();
  const { clock } = deps;
  const views = [
    sharedReflector(deps, OPTIONS),
    sharedReflector(deps, { ...OPTIONS, query: {} }),
    sharedReflector(deps, { ...OPTIONS, query: { namespace: 'ml', labelSelector: 'a=b' } }),
    sharedReflector(deps, { ...OPTIONS, keep: (object) => object.metadata.name }),
  ];
  await clock.settle();

  expect(requests.filter(({ query }) => !query.watch)).toHaveLength(4);
  expect(sharedKube(deps)).toBe(sharedKube(deps));
  for (const view of views) await view.close();
});
