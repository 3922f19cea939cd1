import { describe, expect, it } from 'vitest';
import type { Event } from '../../api/wire/event.ts';
import type { Session } from '../../api/wire/session.ts';
import { ANSWERS, event } from '../testing/examples.ts';
import { attemptsOf } from './attempts.ts';

const { items } = ANSWERS['/sessions'] as { readonly items: readonly [Session] };
const START_MS = Date.parse(items[0].accepted_at);
const at = (seconds: number): string => new Date(START_MS + seconds * 1_000).toISOString();
const session = (more: Partial<Session>): Session => {
  const { placed_at: _, started_at: __, worker: ___, ...bare } = items[0];
  return { ...bare, accepted_at: at(0), attempt: 0, ...more };
};
const requeued = (seconds: number, fields: Event['fields']): Event => ({
  ...event,
  at: at(seconds),
  kind: 'session.requeued',
  message: 'Its machine is gone.',
  fields,
});
const shown = (one: Session, events: readonly Event[] = []) =>
  attemptsOf(one, events).map(({ number, phases }) => [
    number,
    ...phases.map(
      ({ phase, fromMs, toMs }) =>
        `${phase} ${(fromMs - START_MS) / 1_000} to ${toMs === undefined ? 'now' : (toMs - START_MS) / 1_000}`,
    ),
  ]);

describe('the attempts of a session', () => {
  it('are one that waits, until it is placed', () => {
    expect(shown(session({}))).toEqual([[1, 'queued 0 to now']]);
    expect(shown(session({ attempt: 1, worker: 'm', placed_at: at(2) }))).toEqual([
      [1, 'queued 0 to 2', 'starting 2 to now'],
    ]);
  });

  it('last as long as each of their phases did', () => {
    const ended = session({
      ...{ attempt: 1, worker: 'm', placed_at: at(2), started_at: at(3) },
      end: { at: at(10), how: 'exited', exit_code: 0 },
    });
    expect(shown(ended)).toEqual([[1, 'queued 0 to 2', 'starting 2 to 3', 'running 3 to 10']]);
    expect(shown(session({ end: { at: at(5), how: 'cancelled', exit_code: 137 } }))).toEqual([[1, 'queued 0 to 5']]);
  });

  it('are read from the events of earlier ones, each with its end', () => {
    const events = [
      requeued(20, { attempt: 1, worker: 'm-1', placed_at: at(2), started_at: at(3) }),
      requeued(30, { attempt: 2, worker: 'm-2', placed_at: at(25) }),
    ];
    expect(shown(session({ attempt: 2 }), events)).toEqual([
      [1, 'queued 0 to 2', 'starting 2 to 3', 'running 3 to 20'],
      [2, 'queued 20 to 25', 'starting 25 to 30'],
      [3, 'queued 30 to now'],
    ]);
    expect(attemptsOf(session({ attempt: 2 }), events)[0]).toMatchObject({
      worker: 'm-1',
      why: 'Its machine is gone.',
    });
  });

  it('are none twice when the row is older than its events', () => {
    const row = session({ attempt: 1, worker: 'm-1', placed_at: at(2), started_at: at(3) });
    const events = [requeued(20, { attempt: 1, worker: 'm-1', placed_at: at(2), started_at: at(3) })];
    expect(shown(row, events)).toHaveLength(1);
  });
});
