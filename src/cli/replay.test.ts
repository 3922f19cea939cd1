import { expect, it } from 'vitest';
import type { Why } from '../api/wire/pool.ts';
import type { Replay } from '../api/wire/replay.ts';
import { openScene, refusal } from './testing.ts';

const aPage = (over: Partial<Replay> = {}): Replay => ({
  ...{ decisions: 3, same: 3, different: 0, without_inputs: 0, unreadable: 0 },
  ...{ from: '2026-01-01T00:00:00.000Z', until: '2026-01-02T00:00:00.000Z' },
  ...over,
});

const different: Replay['first_different'] = {
  pool: 'gpu',
  parts: ['did', 'why', 'unless', 'facts'],
  recorded: {
    ...{ id: 'd1', at: '2026-01-01T06:00:00.000Z', did: 'launch 1', why: '1 queued.', unless: 'it ends' },
    facts: { queued: 1, idle: 0 },
  },
  computed: { did: 'launch 2', why: '2 queued.', facts: { queued: 2, idle: 0 } },
};

it('adds up all pages, and ends with 0 where all decisions are the same', async () => {
  const pages = [aPage({ next: 'd3' }), aPage({ decisions: 1, same: 1, until: '2026-01-03T00:00:00.000Z' })];
  const { muster, asked, output } = openScene(() => pages.shift());

  const exit = await muster('replay', 'gpu', '--since', '3d');

  expect(exit).toBe(0);
  expect(asked.map(({ query }) => query)).toEqual([
    { pool: 'gpu', since: '3d' },
    { pool: 'gpu', since: '3d', after: 'd3' },
  ]);
  expect(output()).toBe(
    '4 decisions from 2026-01-01 00:00:00Z to 2026-01-03 00:00:00Z, computed again: all are the same.\n',
  );
});

it('shows the first decision that differs and in what, and ends with 2', async () => {
  const later = { ...different, pool: 'later' };
  const pages = [
    aPage({ same: 2, different: 1, first_different: different, next: 'd3' }),
    aPage({ same: 2, different: 1, first_different: later }),
  ];
  const { muster, output } = openScene(() => pages.shift());

  expect(await muster('replay')).toBe(2);
  expect(
    output(),
  ).toBe(`6 decisions from 2026-01-01 00:00:00Z to 2026-01-02 00:00:00Z, computed again: 4 the same, 2 different.
The first that differs:
Pool gpu at 2026-01-01 06:00:00Z, in did, why, unless, figures:
  recorded  launch 1  1 queued.
  computed  launch 2  2 queued.
  unless: "it ends" → none
  queued: 1 → 2
`);
});

it('ends with 1 where the inputs of a decision cannot be read, or where the request is refused', async () => {
  const at = '2026-01-01T06:00:00.000Z';
  const unread = { pool: 'gpu', at, why: 'They are of version 2.', remedy: 'Use that version.' };
  const answers = [
    aPage({ same: 1, unreadable: 1, without_inputs: 1, first_unreadable: unread }),
    refusal(422, { kind: 'invalid', detail: 'query.since: Must be a duration.', at: 'query.since' }),
  ];
  const { muster, output, errors } = openScene(() => answers.shift());

  expect(await muster('replay')).toBe(1);
  expect(output()).toContain(
    '1 the same, 1 recorded without inputs by an earlier version, 1 with inputs that this version cannot read.',
  );
  expect(output()).toContain('of pool gpu at 2026-01-01 06:00:00Z: They are of version 2. Use that version.');
  expect(await muster('replay', '--since', 'yesterday')).toBe(1);
  expect(errors()).toContain('Must be a duration.');
});

it('says that nothing is recorded, in place of all being the same', async () => {
  const { muster, output } = openScene(() => aPage({ decisions: 0, same: 0, from: undefined, until: undefined }));

  expect(await muster('replay', '--since', '1m')).toBe(0);
  expect(output()).toBe('No decision of that time is recorded.\n');
});

it('why at a time says until when that decision was in force', async () => {
  const why: Why = {
    ...{ pool: 'gpu', phase: 'active', counts: { queued: 1, idle: 0, starting: 1 }, starting: [] },
    past: { at: '2026-01-01T06:30:00.000Z', until: '2026-01-01T07:00:00.000Z', replay: 'same' },
    decisions: [different.recorded],
  };
  const { muster, asked, output } = openScene(() => why);
  await muster('pool', 'why', 'gpu', '--at', '2026-01-01T06:30');

  expect(asked[0]?.query).toEqual({ limit: '10', at: '2026-01-01T06:30' });
  expect(output().split('\n').slice(0, 3)).toEqual([
    'At 2026-01-01 06:30:00Z, in force until 2026-01-01 07:00:00Z; computed again from its inputs, it is the same:',
    '1 queued, 0 idle, 1 starting',
    '2026-01-01 06:00:00Z  launch 1  1 queued.',
  ]);
});
