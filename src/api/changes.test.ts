import { describe, expect, it } from 'vitest';
import { append } from '#core/store.ts';
import type { VirtualClock } from '#core/virtual-clock.ts';
import { type ChangeWish, changeStream } from './change-stream.ts';
import { changeTables, openHub } from './table.ts';
import { anAgent, aSession, aWorker, gone, poolWithSecret, row } from './testing/rows.ts';
import { apiWorld, type WorldOptions } from './testing/world.ts';
import type { Change } from './wire/event.ts';

interface SentEvent {
  readonly event: string;
  readonly id: string;
  readonly data: Partial<Change>;
}

function parse(text: string): SentEvent[] {
  return text
    .split('\n\n')
    .filter((block) => block.includes('event:'))
    .map((block) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
      return { event: field('event'), id: field('id'), data: JSON.parse(field('data')) };
    });
}

const gpu = poolWithSecret('gpu');
const all = changeTables;
const only = (table: string) => new Map([...all].filter(([name]) => name === table));
const summarised = (received: SentEvent[]): string[] =>
  received.map(({ event, data }) => [event, data.table, data.id].filter(Boolean).join(' '));

async function watched(options: WorldOptions = {}) {
  const world = await apiWorld({ rows: [row('pools', gpu)], ...options });
  const hub = openHub(world.deps);
  const watch = (wish: Partial<ChangeWish> = {}) => {
    const over = new AbortController();
    const stream = changeStream(world.deps, hub, {
      tables: all,
      role: 'viewer',
      signal: over.signal,
      turn: async () => {},
      ...wish,
    });
    let text = '';
    stream.on('data', (part) => {
      text += String(part);
    });
    return { received: () => parse(text), stream, text: () => text, end: () => over.abort() };
  };
  return { ...world, hub, watch };
}

const settle = async (clock: VirtualClock, ms: number): Promise<void> => {
  await clock.advance(ms);
  await clock.settle();
};

describe('changes', () => {
  it('tell each row as it is now, a row that changes often at most four times a second', async () => {
    const { deps, clock, watch } = await watched();
    const client = watch({ tables: only('pools') });
    await settle(clock, 0);

    for (let revision = 2; revision <= 101; revision++) {
      await deps.store.commit([row('pools', { ...gpu, revision })]);
      await settle(clock, 10);
    }
    await settle(clock, 500);

    const received = client.received().filter(({ event }) => event === 'change');
    expect(received.length).toBeGreaterThan(2);
    expect(received.length).toBeLessThanOrEqual(6);
    expect(received.at(-1)?.data).toMatchObject({ table: 'pools', id: 'p-gpu', row: { name: 'gpu', revision: 101 } });
  });

  it('show a pool as the role of the listener may see it', async () => {
    const over = { redactConfig: (_kind: string, _config: object, role: string) => ({ for: role }) };
    const { deps, clock, watch } = await watched({ over });
    const clients = [watch({ role: 'viewer' }), watch({ role: 'operator' })];
    await settle(clock, 0);

    await deps.store.commit([row('pools', { ...gpu, revision: 2 })]);
    await settle(clock, 500);

    expect(clients.map((client) => client.received().at(-1)?.data.row)).toMatchObject([
      { backends: [{ config: { for: 'viewer' } }] },
      { backends: [{ config: { for: 'operator' } }] },
    ]);
  });

  it('follow from what a row is made of: agents and sessions change workers and pools', async () => {
    const { deps, clock, watch } = await watched();
    const client = watch();
    await settle(clock, 0);
    const end = { at: 1, how: 'exited', exitCode: 0 } as const;
    const session = aSession('s1', gpu, { worker: 'm-1' });

    await deps.store.commit([row('workers', aWorker('m-1', gpu.id, { joinedAt: 1 }))]);
    await settle(clock, 300);
    await deps.store.commit([row('agents', anAgent('m-1', gpu.id))]);
    await settle(clock, 300);
    await deps.store.commit([row('sessions', session)]);
    await settle(clock, 300);
    await deps.store.commit([gone('sessions', 's1'), append('ended', { ...session, end })]);
    await settle(clock, 300);
    await deps.store.commit([gone('workers', 'm-1')]);
    await settle(clock, 300);

    const phases = client
      .received()
      .filter(({ data }) => data.table === 'workers' || data.table === 'sessions')
      .map(({ data }) => `${data.id} ${(data.row as { phase?: string } | undefined)?.phase ?? 'gone'}`);
    expect(phases).toEqual(['m-1 lost', 'm-1 idle', 'm-1 busy', 's1 starting', 'm-1 idle', 's1 ended', 'm-1 gone']);
    expect(client.received().filter(({ data }) => data.table === 'pools')).toHaveLength(5);
  });

  it('tell a client that names rows of those alone, also after it was away', async () => {
    const { deps, clock, watch } = await watched();
    const ids = new Set(['p-gpu', 'm-1']);
    const client = watch({ ids });
    const change = async () => {
      await deps.store.commit([
        ...['cpu', 'tpu'].map((name) => row('pools', poolWithSecret(name))),
        ...['m-1', 'm-2'].map((name) => row('workers', aWorker(name, 'p-cpu'))),
        row('pools', { ...gpu, revision: 2 }),
      ]);
      await settle(clock, 500);
    };
    await change();
    const since = client.received().at(-1)?.id;
    client.end();
    await change();
    const again = watch({ ids, since });
    await settle(clock, 500);

    expect(summarised(client.received())).toEqual(['hello', 'change workers m-1', 'change pools p-gpu']);
    expect(summarised(again.received())).toEqual(['hello', 'change workers m-1', 'change pools p-gpu']);
  });

  it('tell every pool when the fleet is frozen', async () => {
    const { deps, clock, watch } = await watched();
    const client = watch({ tables: only('pools') });
    await deps.store.commit([row('pools', poolWithSecret('cpu'))]);
    await settle(clock, 300);

    await deps.store.commit([row('freezes', { id: 'fleet', at: 1, why: 'w', by: 'x', automatic: false })]);
    await settle(clock, 300);

    const frozen = client.received().filter(({ data }) => (data.row as { frozen?: unknown } | undefined)?.frozen);
    expect(summarised(frozen)).toEqual(['change pools p-gpu', 'change pools p-cpu']);
  });

  it('tell the pools whose removal is held, and no others of their source', async () => {
    const { deps, clock, watch } = await watched();
    const client = watch({ tables: only('pools') });
    const cpu = poolWithSecret('cpu');
    await deps.store.commit([row('pools', { ...cpu, owner: { ...cpu.owner, source: gpu.owner.source, key: 'cpu' } })]);
    await settle(clock, 300);

    const held = { at: 1, why: 'w', keys: ['cpu'] };
    await deps.store.commit([row('sources', { id: gpu.owner.source, kind: 'aws', held })]);
    await settle(clock, 300);

    const told = client.received().filter(({ data }) => (data.row as { held?: unknown } | undefined)?.held);
    expect(summarised(told)).toEqual(['change pools p-cpu']);
  });

  it('tell nothing that is not durable', async () => {
    let letGo = (): void => {};
    let isStopped = false;
    const { deps, clock, watch } = await watched({
      beforeWrite: async () => {
        if (isStopped) await new Promise<void>((resolve) => (letGo = resolve));
      },
    });
    const client = watch();
    await settle(clock, 300);

    isStopped = true;
    void deps.store.commit([row('pools', { ...gpu, revision: 2 })]);
    await settle(clock, 1_000);
    const before = summarised(client.received());
    isStopped = false;
    letGo();
    await settle(clock, 1_000);

    expect(before).toEqual(['hello']);
    expect(summarised(client.received())).toEqual(['hello', 'change pools p-gpu']);
  });

  it('tell a row that changes again meanwhile only when that is durable too', async () => {
    const writes: (() => void)[] = [];
    let isStopped = false;
    const { deps, clock, watch } = await watched({
      beforeWrite: async () => {
        if (isStopped) await new Promise<void>((resolve) => writes.push(resolve));
      },
    });
    const client = watch();
    await settle(clock, 300);

    isStopped = true;
    void deps.store.commit([row('pools', { ...gpu, revision: 2 })]).then(() => {
      void deps.store.commit([row('pools', { ...gpu, revision: 3 })]);
    });
    await settle(clock, 300);
    writes.shift()?.();
    await settle(clock, 1_000);
    const before = summarised(client.received());
    isStopped = false;
    for (const write of writes) write();
    await settle(clock, 1_000);

    expect(before).toEqual(['hello']);
    expect(client.received()[1]?.data.row).toMatchObject({ revision: 3 });
  });

  it('go on where a client was, with what it missed, each row once', async () => {
    const { deps, clock, watch } = await watched();
    const first = watch();
    await deps.store.commit([row('pools', { ...gpu, revision: 2 })]);
    await settle(clock, 300);
    const seen = first.received().at(-1)?.id;
    first.end();
    await settle(clock, 0);
    await deps.store.commit([row('pools', { ...gpu, revision: 3 }), row('pools', poolWithSecret('cpu'))]);
    await deps.store.commit([row('pools', { ...gpu, revision: 4 })]);

    const second = watch({ since: seen });
    await settle(clock, 300);

    expect(summarised(second.received())).toEqual(['hello', 'change pools p-cpu', 'change pools p-gpu']);
    expect(second.received().at(-1)?.data.row).toMatchObject({ revision: 4 });
  });

  it.each([
    ['of another epoch', '99-0'],
    ['of the future', '1-999999'],
    ['that is nonsense', 'x'],
  ])('begin anew after a position %s', async (_name, since) => {
    const { clock, watch } = await watched();
    watch();
    await settle(clock, 0);

    const client = watch({ since });
    await settle(clock, 300);

    expect(summarised(client.received())).toEqual(['reset']);
  });

  it('begin anew where a client was away too long, or too much has happened meanwhile', async () => {
    const { deps, clock, watch, hub } = await watched();
    const first = watch();
    await settle(clock, 300);
    const position = hub.position();
    first.end();
    await settle(clock, 120_000);

    const late = watch({ since: position });
    await settle(clock, 300);
    const early = hub.position();
    for (let at = 0; at < 11; at++) {
      await deps.store.commit(Array.from({ length: 1_000 }, (_, one) => row('pools', poolWithSecret(`p${at}-${one}`))));
    }

    expect(summarised(late.received())[0]).toBe('reset');
    expect(hub.since(early)).toBeUndefined();
    expect(hub.since(hub.position())).toEqual([]);
  });

  it('never fill the memory for a client that does not read', async () => {
    const { deps, clock, hub } = await watched();
    const stream = changeStream(deps, hub, {
      tables: all,
      role: 'viewer',
      signal: new AbortController().signal,
      turn: async () => {},
    });
    await settle(clock, 300);

    for (let at = 0; at < 8; at++) {
      await deps.store.commit(Array.from({ length: 1_000 }, (_, one) => row('pools', poolWithSecret(`p${at}-${one}`))));
      await settle(clock, 300);
    }
    const held = stream.readableLength;
    let text = '';
    stream.on('data', (part) => {
      text += String(part);
    });
    await settle(clock, 1_000);

    // One batch waits in the stream; the rest has become a reset.
    expect(held).toBeLessThan(1_500_000);
    expect(summarised(parse(text)).filter((line) => line === 'reset')).toHaveLength(1);
  });

  it('give up a client that reads nothing for a minute', async () => {
    const { deps, clock, hub } = await watched();
    const stream = changeStream(deps, hub, {
      tables: all,
      role: 'viewer',
      signal: new AbortController().signal,
      turn: async () => {},
    });
    await settle(clock, 300);
    await deps.store.commit(Array.from({ length: 1_000 }, (_, one) => row('pools', poolWithSecret(`p${one}`))));

    await settle(clock, 120_000);

    expect(stream.destroyed).toBe(true);
  });

  it('keep the connection alive, and end with it', async () => {
    const { clock, watch } = await watched();
    const client = watch();

    await settle(clock, 31_000);
    client.end();
    await settle(clock, 0);

    expect(client.text().match(/^:$/gm)).toHaveLength(2);
    expect(client.stream.readableEnded).toBe(true);
  });

  it('are served as an event stream', async () => {
    const { api, call, deps, clock } = await apiWorld({ rows: [row('pools', gpu)] });

    const answering = call('GET', '/api/v1/changes?tables=pools', { payloadAsStream: true });
    const answer = await answering;
    let text = '';
    answer.stream().on('data', (part) => {
      text += String(part);
    });
    await deps.store.commit([row('pools', { ...gpu, revision: 2 })]);
    await settle(clock, 300);
    await settle(clock, 300);
    await api.close();

    expect(answer.headers['content-type']).toContain('text/event-stream');
    expect(summarised(parse(text))).toEqual(['hello', 'change pools p-gpu']);
  });
});
