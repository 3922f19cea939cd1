import { describe, expect, it } from 'vitest';
import { type RecordedServer, Refusal, recordedServer } from '../testing/recorded-server.ts';
import { openList, pagePath } from './list.ts';

interface Row {
  readonly id: string;
  readonly n: number;
}

const idOf = ({ id }: Row): string => id;
const row = (id: string, n = 0): Row => ({ id, n });
const FIRST = pagePath('/pools', undefined);
const pageAfter = (id: string): string => pagePath('/pools', id);

async function opened(server: RecordedServer) {
  const list = openList<Row>(server.live, { path: '/pools', table: 'pools', idOf });
  server.live.start();
  const stop = list.start();
  await server.clock.pass(0);
  return { list, stop, ids: () => list.rows.value.map(idOf) };
}

describe('a list', () => {
  it('loads page by page, and says whether there is more', async () => {
    const server = recordedServer();
    server.answers.set(FIRST, () => ({ items: [row('a'), row('b')], next: 'b' }));
    server.answers.set(pageAfter('b'), () => ({ items: [row('c')] }));
    const { list, ids } = await opened(server);
    expect([ids(), list.hasMore.value]).toEqual([['a', 'b'], true]);

    list.loadMore();
    await server.clock.pass(0);
    expect([ids(), list.hasMore.value]).toEqual([['a', 'b', 'c'], false]);
    list.loadMore();
    await server.clock.pass(0);
    expect(server.asked).toEqual([FIRST, pageAfter('b')]);
  });

  it('follows the rows on the screen alone', async () => {
    const server = recordedServer();
    server.answers.set(FIRST, () => ({ items: [row('a'), row('b'), row('c')] }));
    const { list } = await opened(server);
    list.show(1, 2);
    await server.clock.pass(200);

    expect(server.streams.at(-1)?.url.searchParams.get('ids')).toBe('b');
  });

  it('puts a changed row in its place, and lists again for one that is gone', async () => {
    const server = recordedServer();
    server.answers.set(FIRST, () => ({ items: [row('a'), row('b')] }));
    const { list, ids } = await opened(server);
    list.show(0, 2);
    await server.clock.pass(200);
    server.streams.at(-1)?.send('change', '1-1', { table: 'pools', id: 'b', row: row('b', 7) });
    await server.clock.pass(250);
    expect(list.rows.value).toEqual([row('a'), row('b', 7)]);

    server.answers.set(FIRST, () => ({ items: [row('b', 7)] }));
    server.streams.at(-1)?.send('change', '1-2', { table: 'pools', id: 'a' });
    await server.clock.pass(250);
    expect(ids()).toEqual(['b']);
  });

  it('keeps a change that came while an older listing was under way', async () => {
    const server = recordedServer();
    server.answers.set(FIRST, () => ({ items: [row('a', 1)] }));
    const { list } = await opened(server);
    list.show(0, 1);
    await server.clock.pass(200);
    const slow = Promise.withResolvers<object>();
    server.answers.set(FIRST, () => slow.promise);
    const listing = list.refresh();
    server.streams.at(-1)?.send('change', '1-1', { table: 'pools', id: 'a', row: row('a', 2) });
    await server.clock.pass(250);
    slow.resolve({ items: [row('a', 1)] });
    await listing;

    expect(list.rows.value).toEqual([row('a', 2)]);
  });

  it('lists the pages on the screen again every ten seconds and after a reset, and no others', async () => {
    const server = recordedServer();
    server.answers.set(FIRST, () => ({ items: [row('a'), row('b')], next: 'b' }));
    server.answers.set(pageAfter('b'), () => ({ items: [row('c')], next: 'c' }));
    const { list } = await opened(server);
    list.loadMore();
    await server.clock.pass(0);
    list.show(2, 3);
    await server.clock.pass(10_000);
    expect(server.asked).toEqual([FIRST, pageAfter('b'), pageAfter('b')]);

    server.streams.at(-1)?.send('reset', '2-0', {});
    await server.clock.pass(0);
    expect(server.asked.slice(3)).toEqual([pageAfter('b')]);
  });

  it('drops the pages behind one that ends elsewhere now, and shows no row twice', async () => {
    const server = recordedServer();
    server.answers.set(FIRST, () => ({ items: [row('a'), row('c')], next: 'c' }));
    server.answers.set(pageAfter('c'), () => ({ items: [row('d')] }));
    const { list, ids } = await opened(server);
    list.loadMore();
    await server.clock.pass(0);
    list.show(0, 3);
    server.answers.set(FIRST, () => ({ items: [row('a'), row('b')], next: 'b' }));
    server.answers.set(pageAfter('b'), () => ({ items: [row('b'), row('c'), row('d')] }));
    await list.refresh();

    expect(ids()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('asks nothing while no one sees the page, or once it is left', async () => {
    const server = recordedServer();
    server.answers.set(FIRST, () => ({ items: [] }));
    const { stop } = await opened(server);
    server.setVisible(false);
    await server.clock.pass(30_000);
    expect(server.asked).toHaveLength(1);

    server.setVisible(true);
    stop();
    await server.clock.pass(30_000);
    expect(server.asked).toHaveLength(1);
  });

  it('keeps its rows when the server is away, and says why it has none when it is refused', async () => {
    const server = recordedServer();
    server.answers.set(FIRST, () => ({ items: [row('a')] }));
    const { list, ids } = await opened(server);
    server.answers.delete(FIRST);
    await list.refresh();
    expect([ids(), list.problem.value?.kind]).toEqual([['a'], 'unavailable']);

    server.answers.set(FIRST, () => new Refusal(403, { kind: 'denied', detail: 'No.', remedy: 'Ask.' }));
    await list.refresh();
    expect(list.problem.value?.kind).toBe('denied');
  });
});
