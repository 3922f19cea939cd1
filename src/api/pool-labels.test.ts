import { describe, expect, it } from 'vitest';
import type { Pool } from '#core/pool.ts';
import { emptyDisk, memoryDriver } from '../store/memory.ts';
import { openStore } from '../store/store.ts';
import { openPoolLabels } from './pool-labels.ts';
import { gone, poolWithSecret, row } from './testing/rows.ts';

async function labelsOf(count: number) {
  const store = await openStore(memoryDriver(emptyDisk()), () => {});
  const released: string[] = [];
  const labels = openPoolLabels(store, (name) => released.push(name));
  const define = (...pools: readonly Pool[]) => store.commit(pools.map((pool) => row('pools', pool)));
  const remove = (name: string) => store.commit([gone('pools', `p-${name}`)]);
  await define(...Array.from({ length: count }, (_, at) => poolWithSecret(`p${at}`)));
  return { labels, released, define: (name: string) => define(poolWithSecret(name)), remove };
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, at) => `p${at}`);

describe('labels of pools', () => {
  it('are the names of all pools where there are at most 200', async () => {
    const { labels } = await labelsOf(200);

    expect(numbered(200).map(labels.ofIdle)).toEqual(numbered(200));
  });

  it('go to the first 200 pools that do something where there are more, and stay with them', async () => {
    const { labels } = await labelsOf(300);

    const idle = labels.ofIdle('p0');
    const active = numbered(300).toReversed().map(labels.ofActive);

    expect(idle).toBe('other');
    expect(active.slice(0, 200)).toEqual(numbered(300).toReversed().slice(0, 200));
    expect(new Set(active.slice(200))).toEqual(new Set(['other']));
    expect([labels.ofIdle('p299'), labels.ofActive('p0')]).toEqual(['p299', 'other']);
  });

  it('stay with a pool that is removed and defined again', async () => {
    const { labels, released, define, remove } = await labelsOf(250);
    numbered(200).map(labels.ofActive);

    await remove('p7');
    await define('p7');

    expect([labels.ofActive('p7'), labels.ofActive('p240')]).toEqual(['p7', 'other']);
    expect(released).toEqual([]);
  });

  it('pass from the pool that was removed first to the next that does something', async () => {
    const { labels, released, remove } = await labelsOf(250);
    numbered(200).map(labels.ofActive);

    await remove('p7');
    await remove('p3');

    expect(['p240', 'p7', 'p241', 'p242'].map(labels.ofActive)).toEqual(['p240', 'other', 'p241', 'other']);
    expect(released).toEqual(['p7', 'p3']);
  });

  it('never belong to a pool that is gone, or to one that is called as the rest is', async () => {
    const { labels, define } = await labelsOf(200);
    await define('other');

    const none = [labels.ofActive('gone'), labels.ofActive('other')];

    expect(none).toEqual(['other', 'other']);
    expect(numbered(200).map(labels.ofActive)).toEqual(numbered(200));
  });
});
