import { describe, expect, it } from 'vitest';
import type { Event } from '../api/wire/event.ts';
import { broken, ended, openScene } from './testing.ts';
import { cutTo } from './watch.ts';

const sessions = (count: number) => Array.from({ length: count }, (_, n) => ended({ id: `s${n}` }));

const EVIL = 'a\u001b]0;owned\u0007\nb\u009b2J';

describe('what others wrote', () => {
  const event: Event = {
    id: 'e1',
    at: '2026-01-01T00:00:00.000Z',
    kind: 'pool.created',
    subject: 'pool/a',
    who: 'system',
    from: 'here',
    message: EVIL,
  };
  const worker = {
    name: 'm',
    pool: 'p',
    phase: 'draining',
    sessions: [],
    asked_at: event.at,
    drain: { at: event.at, why: EVIL },
    agent: { labels: { x: EVIL }, slots: 1, free_slots: 1, connected_at: event.at, hostname: EVIL },
  };
  const pool = {
    name: 'p',
    phase: 'active',
    description: EVIL,
    trouble: EVIL,
    owner: { source: 'team', key: EVIL, version: '1' },
    auto_scaler: {},
    backends: [],
    workers: {},
    slots: {},
    sessions: {},
    labels: { x: EVIL },
  };
  const source = { id: 'team', kind: 'file', failures: 1, fault: { kind: 'denied', message: EVIL, at: event.at } };
  const session = ended({ command: ['echo', EVIL], labels: { x: EVIL }, cwd: EVIL });
  const document = { key: EVIL, version: '1', missed: 0, fault: { kind: 'invalid', message: EVIL } };

  it.each([
    [['event', 'ls'], { items: [event] }, 2],
    [['session', 'ls'], { items: [session] }, 2],
    [['session', 'show', 's'], session, 10],
    [['worker', 'ls'], { items: [worker] }, 2],
    [['worker', 'show', 'm'], worker, 10],
    [['pool', 'show', 'p'], pool, 13],
    [['source', 'ls'], { items: [source] }, 2],
    [['source', 'show', 'team'], { ...source, items: [document] }, 9],
  ])('%j shows in one line each, without its control characters', async (words, answer, lines) => {
    const { muster, screen } = openScene(() => answer);

    expect(await muster(...words)).toBe(0);

    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there; our own colours may.
    expect(screen()).not.toMatch(/\u001b\]|\u0007|\u009b/);
    expect(screen().trimEnd().split('\n').length).toBeLessThanOrEqual(lines);
  });
});

describe('lists', () => {
  it('are tables, JSON or YAML', async () => {
    const { muster, output } = openScene(() => ({ items: sessions(1) }));

    await muster('session', 'ls');
    await muster('session', 'ls', '-o', 'json');
    await muster('session', 'list', '-o', 'yaml');

    expect(output()).toMatch(/^ID\s+NAME\s+POOL\s+PHASE.*\ns0\s+-\s+local\s+exited\s+0 /);
    expect(output()).toContain('"id": "s0"');
    expect(output()).toContain('- id: s0');
  });

  it('of pools have their trouble, and those of workers what they wait for', async () => {
    const counts = { idle: 0, busy: 0, launching: 0, booting: 1, draining: 0, deleting: 0, lost: 0, total: 1 };
    const pool = { name: 'gpu', phase: 'active', trouble: 'No quota.', owner: { source: 'f' }, backends: [] };
    const worker = { name: 'm-1', pool: 'gpu', phase: 'booting', sessions: [], waits: 'its pod has no node' };
    const { muster, output } = openScene(({ path }) => ({
      items: [path === '/pools' ? { ...pool, workers: counts, sessions: {}, auto_scaler: {} } : worker],
    }));

    await muster('pool', 'ls');
    await muster('worker', 'ls');

    expect(output()).toMatch(/NAME .* TROUBLE\ngpu .* No quota\.\n/);
    expect(output()).toMatch(/NAME .* WHY\nm-1 .* its pod has no node\n/);
  });

  it('ask for as much as was wanted, and filter at the server', async () => {
    const { muster, asked } = openScene(() => ({ items: [] }));

    await muster('session', 'ls', '-p', 'gpu', '--phase', 'queued', '-n', '3');
    await muster('worker', 'ls', '--phase', 'lost');

    expect(asked.map(({ path, query }) => [path, query])).toEqual([
      ['/sessions', { pool: 'gpu', phase: 'queued', limit: '3' }],
      ['/workers', { phase: 'lost', limit: '1000' }],
    ]);
  });

  it('with -w show changes in place, no more than the screen holds, until Ctrl-C', async () => {
    let count = 2;
    const { muster, clock, interrupt, screen } = openScene(() => ({ items: sessions(count) }), { isTTY: true });

    const over = muster('session', 'ls', '-w');
    await clock.advance(100);
    expect(screen().startsWith('\u001b[H\u001b[2J')).toBe(true);
    count = 30;
    await clock.advance(600);
    interrupt();
    await over;

    const last = screen().split('\u001b[H').at(-1) ?? '';
    expect(last.split('\n')).toHaveLength(10);
    expect(last).toContain('… and 23 more');
    expect(Math.max(...last.split('\n').map((line) => [...line].length))).toBeLessThanOrEqual(70);
  });

  it('with -w outlast a server that is away, but not one that was never there', async () => {
    let isAway = false;
    const { muster, clock, interrupt, output } = openScene(() => (isAway ? broken('ECONNREFUSED') : { items: [] }));
    const over = muster('pool', 'ls', '-w');
    await clock.advance(100);
    isAway = true;
    await clock.advance(20_000);
    interrupt();
    await over;

    expect(output()).toContain('No pools.');
    expect(await openScene(() => broken('ECONNREFUSED')).muster('pool', 'ls', '-w')).toBe(9);
  });
});

describe('cutting a line', () => {
  it('counts what is seen, and keeps the colours whole', () => {
    expect(cutTo('\u001b[1mNAME\u001b[22m  PHASE', 6)).toBe('\u001b[1mNAME\u001b[22m  ');
    expect(cutTo('größer', 4)).toBe('größ');
  });
});

describe('event ls', () => {
  const event = (id: string): Event => ({
    id,
    at: '2026-01-01T00:00:00.000Z',
    kind: 'worker.lost',
    subject: 'worker/m-1',
    who: 'muster',
    from: 'itself',
    message: `Event ${id}.`,
  });

  it('lists the newest last', async () => {
    const { muster, asked, output } = openScene(() => ({ items: [event('e2'), event('e1')] }));

    await muster('event', 'ls', '-n', '2', '-k', 'worker.lost');

    expect(output().match(/Event e\d/g)).toEqual(['Event e1', 'Event e2']);
    expect(asked[0]?.query).toEqual({ kind: 'worker.lost', order: 'newest', limit: '2' });
  });

  it('with -f goes on after the last one it has shown', async () => {
    const pages = [[event('e2'), event('e1')], [], [event('e3')], []];
    const { muster, clock, asked, output, interrupt } = openScene(() => ({ items: pages.shift() ?? [] }));

    const over = muster('event', 'ls', '-f', '-o', 'json');
    await clock.advance(2_000);
    interrupt();
    await over;

    expect(
      output()
        .trim()
        .split('\n')
        .map((text) => (JSON.parse(text) as Event).id),
    ).toEqual(['e1', 'e2', 'e3']);
    expect(asked.slice(1, 5).map(({ query }) => [query.order, query.after])).toEqual([
      ['oldest', 'e2'],
      ['oldest', 'e2'],
      ['oldest', 'e3'],
      ['oldest', 'e3'],
    ]);
  });
});

describe('pool ls', () => {
  it('passes on which pools, and what comes first', async () => {
    const { muster, asked } = openScene(() => ({ items: [] }));

    await muster('pool', 'ls', '-q', 'gpu', '--problem', '--order', 'queued');

    expect(asked[0]).toMatchObject({ path: '/pools', query: { q: 'gpu', problem: 'true', order: 'queued' } });
  });

  it('refuses an order that there is none of', async () => {
    const { muster, errors } = openScene(() => ({ items: [] }));

    expect(await muster('pool', 'ls', '--order', 'size')).not.toBe(0);
    expect(errors()).toContain('name, queued, dollars, trouble');
  });
});
