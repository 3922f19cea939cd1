import { describe, expect, it } from 'vitest';
import type { Clock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { KubeObject } from './object.ts';
import { aPod } from './testing.ts';
import { openView } from './view.ts';

const whole = (object: KubeObject): KubeObject => object;

/** A view of the pod `a`, as of version 10. */
async function setUp() {
  const view = openView<KubeObject>(new VirtualClock(), silentLog, 'pods');
  const list = (version: string, ...pods: readonly KubeObject[]): Promise<void> =>
    view.replace(new Map(pods.map((pod) => view.entryOf(pod, whole))), version);
  await list('10', aPod('a', 1));
  const changes: (readonly [string, string | undefined])[] = [];
  view.onChange((key, object) => changes.push([key, object?.metadata.resourceVersion]));
  return {
    view,
    list,
    changes,
    names: () => [...view.all().keys()],
    learn: (pod: KubeObject) => view.learn(pod, whole),
  };
}

it('compares a list a slice at a time, and takes over what differs in one go', async () => {
  const clock = new VirtualClock();
  let readings = 0;
  const between: string[] = [];
  const slow: Clock = {
    ...{ now: () => 0, sleep: clock.sleep, alarm: clock.alarm },
    // Every step takes longer than a slice.
    monotonic: () => ++readings * 10,
    soon(run) {
      between.push([...view.all().keys()].join(' '));
      queueMicrotask(run);
    },
  };
  const view = openView<KubeObject>(slow, silentLog, 'pods');
  const list = (...names: readonly string[]): Promise<void> =>
    view.replace(new Map(names.map((name) => view.entryOf(aPod(name, 1), whole))), '10');
  await list('a', 'b');
  between.length = 0;
  await list('b', 'c');

  // Two were known and two are listed; one is reported as gone, one as new.
  expect(between).toEqual([...Array(4).fill('ml/a ml/b'), ...Array(2).fill('ml/b ml/c')]);
});

describe('an object that this process has made', () => {
  it('is there before the watch reports it, also after a list from before', async () => {
    const { list, learn, names, changes } = await setUp();
    learn(aPod('made', 12));
    const atOnce = names();
    await list('11', aPod('a', 1));

    expect([atOnce, names()]).toEqual([
      ['ml/a', 'ml/made'],
      ['ml/a', 'ml/made'],
    ]);
    expect(changes).toEqual([['ml/made', '12']]);
  });

  it('goes when the watch or a later list says so', async () => {
    const { view, list, learn, names } = await setUp();
    for (const name of ['deleted', 'absent', 'other']) learn(aPod(name, 12));
    view.remove(aPod('deleted', 13));
    const afterWatch = names();
    await list('20', aPod('a', 1), aPod('other', 15));

    expect(afterWatch).toEqual(['ml/a', 'ml/absent', 'ml/other']);
    expect(names()).toEqual(['ml/a', 'ml/other']);
  });

  it('goes where the watch has come past it without a word: it does not match what is followed', async () => {
    const { view, learn, names, changes } = await setUp();
    learn(aPod('made', 12));
    view.reach('11', true);
    const before = names();
    view.reach('12', true);

    expect([before, names()]).toEqual([['ml/a', 'ml/made'], ['ml/a']]);
    expect(changes.at(-1)).toEqual(['ml/made', undefined]);
  });

  it('does not come back where the watch was faster', async () => {
    const { view, learn, names } = await setUp();
    view.put(aPod('made', 12), whole);
    view.remove(aPod('made', 13));
    view.reach('13', false);
    learn(aPod('made', 12));

    expect(names()).toEqual(['ml/a']);
  });

  it('is left to the watch where versions are no numbers', async () => {
    const { list, learn, names } = await setUp();
    await list('v-10', aPod('a', 1));
    learn(aPod('made', 12));

    expect(names()).toEqual(['ml/a']);
  });
});
