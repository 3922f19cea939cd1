import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { idsFrom } from '#core/id.ts';
import type { DecisionRow } from '#core/journal.ts';
import { append } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { writeFacts } from '../autoscaler/inputs.ts';
import { plan } from '../autoscaler/plan.ts';
import { factsOf } from '../autoscaler/testing/check.ts';
import { poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';
import type { Why } from './wire/pool.ts';
import type { Replay } from './wire/replay.ts';

const gpu = poolWithSecret('gpu');
const START_MS = Date.parse('2026-11-15T12:00:00Z');

function decided(ago: number, queued: number, over: Partial<DecisionRow> = {}): DecisionRow {
  const facts = factsOf('idle, booting', { maxAgents: 5 }, { queued });
  const { did, reason, also, why, unless, figures, alternatives } = plan(facts);
  const at = START_MS - ago;
  const row = { id: `${idsFrom(at)}00001`, at, subject: `pool/${gpu.id}` as const, did, reason, also, why, unless };
  return { ...row, facts: figures, alternatives, inputs: writeFacts(facts), ...over };
}

async function world(decisions: readonly DecisionRow[]) {
  const clock = new VirtualClock(START_MS);
  const rows = [row('pools', gpu), ...decisions.map((each) => append('decisions', each))];
  const { call } = await apiWorld({ clock, rows });
  return async <T>(path: string) => {
    const reply = await call('GET', `/api/v1${path}`, { as: 'viewer' });
    return { ...reply.json<T & { detail: string; remedy: string }>(), status: reply.statusCode };
  };
}

describe('a replay', () => {
  it('computes the decisions of the last seven days again, of all pools and those that are gone too', async () => {
    const old = decided(8 * DAY_MS, 1);
    const ofGone = decided(HOUR_MS, 9, { subject: 'pool/gone' });
    const get = await world([old, decided(DAY_MS, 3), ofGone]);

    expect(await get<Replay>('/replays')).toMatchObject({ decisions: 2, same: 2, different: 0 });
    expect(await get<Replay>('/replays?since=10d')).toMatchObject({ decisions: 3, same: 3 });
    expect(await get<Replay>('/replays?pool=gone')).toMatchObject({ decisions: 1, same: 1 });
    expect(await get<Replay>('/replays?pool=gpu&since=2026-11-15')).toMatchObject({ decisions: 0 });
  });

  it('shows the first record that is computed otherwise, with the name of its pool', async () => {
    const wrong = decided(2 * HOUR_MS, 3, { did: 'launch 9' });
    const get = await world([decided(DAY_MS, 3), wrong, decided(HOUR_MS, 3, { did: 'launch 8' })]);

    expect(await get<Replay>('/replays')).toMatchObject({
      ...{ same: 1, different: 2 },
      first_different: { pool: 'gpu', parts: ['did'], recorded: { did: 'launch 9' }, computed: { did: 'launch 1' } },
    });
  });

  it('says why the inputs of a record cannot be read', async () => {
    const get = await world([decided(DAY_MS, 3, { inputs: '{"v":2}' })]);

    const { first_unreadable } = await get<Replay>('/replays');
    expect(first_unreadable).toMatchObject({ pool: 'gpu', why: expect.stringMatching(/version 2/) });
  });

  it('of a pool that never was names the nearest, and of a wrong time its form', async () => {
    const get = await world([]);

    expect(await get('/replays?pool=gpo')).toMatchObject({ status: 404, remedy: 'Did you mean gpu?' });
    expect(await get('/replays?since=yesterday')).toMatchObject({
      status: 422,
      detail: expect.stringMatching(/duration such as 10m/),
    });
  });
});

describe('why at a time', () => {
  const some = [decided(3 * HOUR_MS, 0), decided(HOUR_MS, 4)];

  it('shows the decision in force then, its counts, and when the next one came', async () => {
    const get = await world(some);

    expect(await get<Why>('/pools/gpu/why?at=2026-11-15T10:59')).toMatchObject({
      past: { at: '2026-11-15T10:59:00.000Z', until: '2026-11-15T11:00:00.000Z', replay: 'same' },
      counts: { queued: 0, idle: 1, starting: 1 },
      decisions: [{ at: '2026-11-15T09:00:00.000Z', did: 'remove 2' }],
    });
    const now = await get<Why>('/pools/gpu/why?at=0s');
    expect(now).toMatchObject({ counts: { queued: 4 }, decisions: [{ did: 'launch 2' }] });
    expect(now.past?.until).toBeUndefined();
  });

  it('shows what was recorded, and names in what this version computes it otherwise', async () => {
    const get = await world([decided(HOUR_MS, 4, { why: 'For another reason.' })]);

    expect(await get<Why>('/pools/gpu/why?at=1m')).toMatchObject({
      past: { replay: 'different', differs_in: ['why'] },
      decisions: [{ why: 'For another reason.' }],
    });
  });

  it('before the oldest record says when that was, and refuses a time to come', async () => {
    const get = await world(some);

    expect(await get('/pools/gpu/why?at=2026-11-15')).toMatchObject({
      status: 404,
      remedy: expect.stringMatching(/oldest recorded decision was made at 2026-11-15T09:00:00/),
    });
    expect(await get(`/pools/gpu/why?at=${new Date(START_MS + MINUTE_MS).toISOString()}`)).toMatchObject({
      status: 422,
      detail: expect.stringMatching(/in the future/),
    });
  });
});
