import { expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { openEventWriter } from './events.ts';
import { PODS } from './resource.ts';
import { aPod, json, openScripted, refusal } from './testing.ts';

const SCALED = { type: 'Normal', reason: 'ScaledUp', message: 'Two more workers.' } as const;

function setUp() {
  const scripted = openScripted();
  const events = new Map<string, Record<string, unknown>>();
  scripted.script.answering = ({ method, path, body }) => {
    const sent = body as Record<string, unknown>;
    const name =
      method === 'POST' ? String((sent.metadata as { name: string }).name) : (path.split('/').at(-1) as string);
    const there = events.get(name);
    if (method === 'POST' && there) return refusal(409, 'AlreadyExists', 'there', { name });
    if (method !== 'POST' && !there) return refusal(404, 'NotFound', 'gone', { name });
    if (method !== 'GET') events.set(name, { ...there, ...sent });
    return json(events.get(name));
  };
  return { ...scripted, events, writer: openEventWriter(scripted.kube, scripted.clock) };
}

it('equal events are one, with their number and the time of the last', async () => {
  const { writer, events, clock, requests } = setUp();
  await writer.write(PODS, aPod('p', 1), SCALED, going());
  await clock.advance(90_000);
  await writer.write(PODS, aPod('p', 2), SCALED, going());

  expect([...events.values()]).toEqual([
    expect.objectContaining({
      type: 'Normal',
      reason: 'ScaledUp',
      message: 'Two more workers.',
      count: 2,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:01:30Z',
      involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'p', namespace: 'ml', uid: 'uid-p', resourceVersion: '1' },
    }),
  ]);
  expect(requests[0]?.path).toBe('/api/v1/namespaces/ml/events');
});

it('events about another object, or with other words, are others', async () => {
  const { writer, events } = setUp();
  await writer.write(PODS, aPod('p', 1), SCALED, going());
  await writer.write(PODS, aPod('p', 1, { uid: 'another' }), SCALED, going());
  await writer.write(PODS, aPod('p', 1), { ...SCALED, message: 'One more worker.' }, going());

  expect(events.size).toBe(3);
});

it('one that has expired meanwhile is written anew', async () => {
  const { writer, events, script } = setUp();
  await writer.write(PODS, aPod('p', 1), SCALED, going());
  const { answering } = script;
  script.answering = (request) => {
    if (request.method === 'GET') events.clear();
    return answering(request);
  };
  await writer.write(PODS, aPod('p', 1), SCALED, going());

  expect([...events.values()].map(({ count }) => count)).toEqual([1]);
});

it('a refusal is a fault', async () => {
  const { writer, script } = setUp();
  script.answering = () => refusal(403, 'Forbidden', 'cannot create events');

  await expect(writer.write(PODS, aPod('p', 1), SCALED, going())).rejects.toMatchObject({ kind: 'denied' });
});
