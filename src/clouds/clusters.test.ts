import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ClusterAccess } from '#core/cluster-access.ts';
import { Fault } from '#core/fault.ts';
import { type Context, kind } from '#core/provider.ts';
import { openClusters } from './clusters.ts';

function openWorld() {
  const events: string[] = [];
  let isAway = false;
  const clusterKind = (id: string) =>
    kind<Readonly<Record<string, unknown>>, ClusterAccess>({
      summary: id,
      config: z.record(z.string(), z.unknown()),
      example: {},
      trust: 'operator only',
      async open(config) {
        if (isAway) throw new Fault('unavailable', 'The metadata server is away.');
        const name = `${id} ${JSON.stringify(config)}`;
        events.push(`opened ${name}`);
        return {
          id: name,
          server: 'https://127.0.0.1',
          credential: async () => ({ headers: {}, tls: {} }),
          close: async () => void events.push(`closed ${name}`),
        };
      },
    });
  const clusters = openClusters({
    kinds: { gke: clusterKind('gke'), kubeconfig: clusterKind('kubeconfig') },
    named: { prod: { kind: 'gke', config: { project: 'mine' } } },
    context: {} as Context,
    log: () => {},
  });
  return {
    events,
    clusters,
    at: (config: object) => clusters.at({ ...config }),
    goAway(is: boolean): void {
      isAway = is;
    },
  };
}

describe('a configuration that acts in a cluster', () => {
  it('gets the cluster whose kind stands among its keys, opened once for equal settings', async () => {
    const { at, events } = openWorld();

    const [first, second] = await Promise.all([
      at({ namespace: 'a', gke: { project: 'mine', location: 'x' } }),
      at({ namespace: 'b', gke: { location: 'x', project: 'mine' } }),
    ]);
    await at({ gke: { project: 'other' } });

    expect(second).toBe(first);
    expect(events).toEqual(['opened gke {"project":"mine","location":"x"}', 'opened gke {"project":"other"}']);
  });

  it("gets by `cluster` what the server's file has under that name", async () => {
    const { at } = openWorld();

    expect((await at({ cluster: 'prod' })).id).toBe('gke {"project":"mine"}');
    expect(await at({ cluster: 'prod' })).toBe(await at({ gke: { project: 'mine' } }));
  });

  it('gets the one that kubectl would use where it names none', async () => {
    const { at } = openWorld();

    expect((await at({ namespace: 'a' })).id).toBe('kubeconfig {}');
  });

  it('is refused with the nearest name where there is no such cluster, or two are named', async () => {
    const { at } = openWorld();

    await expect(at({ cluster: 'prdo' })).rejects.toMatchObject({ kind: 'invalid', remedy: 'Did you mean prod?' });
    await expect(at({ cluster: 'prod', gke: { project: 'x' } })).rejects.toMatchObject({ kind: 'invalid' });
  });
});

describe('the opened clusters', () => {
  it('try again when opening one failed', async () => {
    const { at, goAway } = openWorld();
    goAway(true);
    await expect(at({ cluster: 'prod' })).rejects.toMatchObject({ kind: 'unavailable' });
    goAway(false);

    expect((await at({ cluster: 'prod' })).id).toBe('gke {"project":"mine"}');
  });

  it('are closed at the end, and opened anew if someone asks afterwards', async () => {
    const { at, clusters, events } = openWorld();
    await at({ cluster: 'prod' });

    await clusters.closeAll();

    expect(events.at(-1)).toBe('closed gke {"project":"mine"}');
    await at({ cluster: 'prod' });
    expect(events.at(-1)).toBe('opened gke {"project":"mine"}');
  });
});
