import { describe, expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import type { KubeObject } from '#kube/object.ts';
import { PODS } from '#kube/resource.ts';
import { openExactListing } from './listing.ts';
import { keptOfPod, type Pod } from './pods/machine.ts';

const signal = new AbortController().signal;

const anObject = (name: string, resourceVersion = '1'): KubeObject => ({
  metadata: { name, namespace: 'ml', uid: `u-${name}`, resourceVersion },
  status: { phase: 'Running' },
});

function openWorld(inView: readonly KubeObject[], listed: readonly KubeObject[]) {
  const view = new Map(inView.map((object) => [`ml/${object.metadata.name}`, keptOfPod(object)]));
  const asked: string[] = [];
  const listing = openExactListing<Pod>({
    resource: PODS,
    keep: keptOfPod,
    kube: {
      list: async () => {
        asked.push('list');
        return listed;
      },
    },
    view: {
      all: (): ReadonlyMap<string, Pod> => view,
      ready: async () => void asked.push('ready'),
      freshWithin: async (ms) => {
        asked.push(`fresh within ${ms}`);
        if (ms > 10_000) throw new Fault('unavailable', 'too old');
      },
    },
    query: { namespace: 'ml' },
  });
  return { listing, asked, view };
}

describe('the listing of pods', () => {
  it('is an exact list of the API server while there are few', async () => {
    const { listing, asked } = openWorld([anObject('a')], [anObject('a'), anObject('b')]);

    const pods = await listing.list(signal);

    expect(pods.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect([asked, listing.isExact()]).toEqual([['ready', 'list'], true]);
  });

  it('gives the very pod of the view where nothing has changed since', async () => {
    const { listing, view } = openWorld(
      [anObject('a', '1'), anObject('b', '1')],
      [anObject('a', '1'), anObject('b', '2')],
    );

    const [same, changed] = await listing.list(signal);

    expect(same).toBe(view.get('ml/a'));
    expect(changed).not.toBe(view.get('ml/b'));
  });

  it('is the view where there are many, if that was confirmed a moment ago, and is not called exact', async () => {
    const many = Array.from({ length: 501 }, (_, at) => anObject(`p${at}`));
    const { listing, asked } = openWorld(many, []);

    const pods = await listing.list(signal);

    expect(pods).toHaveLength(501);
    expect([asked, listing.isExact()]).toEqual([['ready', 'fresh within 10000'], false]);
  });
});
