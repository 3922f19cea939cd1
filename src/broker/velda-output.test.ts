import { EventEmitter, getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { AgentReport } from '#core/agent-link.ts';
import type { Fault } from '#core/fault.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { PushLogsRequestSchema } from '#wire/gen/velda/task_pb.ts';
import { encode } from '#wire/messages.ts';
import { memoryTables } from '../store/view.ts';
import type { AgentConnection } from './agents.ts';
import type { RequestStream } from './method.ts';
import { aCaller, aSession } from './testing.ts';
import { createVeldaOutput } from './velda-output.ts';

function aScene(epoch = 1) {
  const clock = new VirtualClock();
  const view = memoryTables();
  view.agents.set('v1', { id: 'v1', pool: 'p1', wire: 'velda', epoch: 1 } as never);
  view.sessions.set('s1', aSession('s1', { worker: 'v1', attempt: 1 }));
  const reports: AgentReport[] = [];
  const agent = { name: 'v1', peerAddress: '10.0.0.1' } as AgentConnection;
  const proved: string[] = [];
  const unproven = { open: 0 };
  const output = createVeldaOutput({
    view,
    clock,
    holderEpoch: epoch,
    agents: { get: (name) => (name === 'v1' ? agent : undefined), all: () => [agent] },
    unproven: {
      enter() {
        unproven.open += 1;
        return () => void unproven.open--;
      },
    },
    report: (_, report) => void reports.push(report),
  });
  const open = (peerAddress = '10.0.0.1', header?: string) => {
    const call = new EventEmitter();
    const shown = aCaller(peerAddress, header === undefined ? {} : { 'velda-session': header });
    const caller = { ...shown, proved: () => void proved.push(peerAddress) };
    const outcome: { fault?: Fault } = {};
    const serve = output.pushLogs.admit(caller) as (call: RequestStream) => Promise<Uint8Array>;
    serve(call as unknown as RequestStream).catch((fault: Fault) => Object.assign(outcome, { fault }));
    return {
      outcome,
      message: (bytes: Uint8Array) => call.emit('data', bytes),
      close: () => call.emit('close'),
    };
  };
  return { clock, view, reports, output, proved, unproven, open };
}

const piece = (bytes: number): Uint8Array =>
  encode(PushLogsRequestSchema, { taskId: 's1', data: new Uint8Array(bytes) });

test('output comes only from the machine that the agent is on', () => {
  const { open, reports } = aScene();

  expect(() => open('10.0.0.2')).toThrow(expect.objectContaining({ kind: 'denied' }));
  expect(() => open('10.0.0.2', '1:s1:s1')).toThrow(expect.objectContaining({ kind: 'denied' }));
  open('10.0.0.1').message(piece(1));

  expect(reports).toHaveLength(1);
});

test('a call counts as unproven until it has named a session of the agent at its address', async () => {
  const { open, proved, unproven, clock } = aScene();
  const unnamed = open();
  expect([proved, unproven.open]).toEqual([[], 1]);
  unnamed.message(piece(1));
  expect(unproven.open).toBe(0);
  const named = open('10.0.0.1', '1:s1:s1');

  await clock.advance(3_600_000);

  expect(proved).toEqual(['10.0.0.1', '10.0.0.1']);
  expect([unproven.open, unnamed.outcome, named.outcome]).toEqual([0, {}, {}]);
});

test('a call that names no session within ten seconds is ended', async () => {
  const { open, clock } = aScene();
  const { outcome } = open();

  await clock.advance(9_999);
  expect(outcome).toEqual({});
  await clock.advance(1);

  expect(outcome).toMatchObject({ fault: { kind: 'invalid', message: expect.stringContaining('10 s') } });
});

test('a call whose header names no session of that machine is refused at once', () => {
  const { open, view } = aScene();
  view.sessions.set('s2', aSession('s2', { worker: 'other' }));

  for (const header of ['1:s9:s9', '1:s2:s2', '1:s1:'])
    expect(() => open('10.0.0.1', header)).toThrow(expect.objectContaining({ kind: 'denied' }));
});

test('a session has four open calls for its output at most', () => {
  const { open } = aScene();
  const calls = Array.from({ length: 4 }, () => open('10.0.0.1', '1:s1:s1'));

  expect(() => open('10.0.0.1', '1:s1:s1')).toThrow(expect.objectContaining({ kind: 'throttled' }));
  calls[0]?.close();
  expect(() => open('10.0.0.1', '1:s1:s1')).not.toThrow();
});

test('an agent of our own cannot slip output past its acknowledgements', async () => {
  const { open, view, clock } = aScene();
  view.agents.set('v1', { id: 'v1', pool: 'p1', wire: 'muster', epoch: 1 } as never);

  const { message, outcome } = open();
  message(piece(1));
  await clock.settle();

  expect(outcome).toMatchObject({ fault: { kind: 'denied' } });
});

test('large pieces are cut, and numbers go on over calls but not over attempts', async () => {
  const { open, reports, view } = aScene();

  open().message(piece(150 * 1024));
  open().message(piece(1));
  view.sessions.set('s1', aSession('s1', { worker: 'v1', attempt: 2 }));
  open().message(piece(1));

  const numbers = reports.map((report) =>
    report.is === 'output' ? [report.attempt, report.seq, report.data.length] : [],
  );
  expect(numbers).toEqual([
    [1, 1, 65_536],
    [1, 2, 65_536],
    [1, 3, 22_528],
    [1, 4, 1],
    [2, 1, 1],
  ]);
});

test('the last number waits for open calls, though not for ever', async () => {
  const { clock, open, output } = aScene();
  const call = open();
  call.message(piece(1));
  const answered: number[] = [];

  void output.lastSeq('s1').then((seq) => answered.push(seq));
  await clock.advance(4_999);
  expect(answered).toEqual([]);
  call.message(piece(1));
  await clock.advance(1);

  expect(answered).toEqual([2]);
  expect(await output.lastSeq('s1')).toBe(0);
});

test('in a hurry the last number waits for nothing', async () => {
  const { open, output } = aScene();
  open().message(piece(1));
  const hurry = new AbortController();

  const lastSeq = output.lastSeq('s1', hurry.signal);
  hurry.abort();

  expect(await lastSeq).toBe(1);
});

test('no listener stays on the signal once the last number is known', async () => {
  const { open, output } = aScene();
  const call = open();
  call.message(piece(1));
  const hurry = new AbortController();

  const lastSeq = output.lastSeq('s1', hurry.signal);
  call.close();
  await lastSeq;

  expect(getEventListeners(hurry.signal, 'abort')).toEqual([]);
});

test('the numbers of each holder are above all of the one before, which it does not remember', () => {
  const before = aScene(1);
  const after = aScene(2);
  const call = before.open();
  for (let n = 0; n < 100; n++) call.message(piece(1));

  after.open().message(piece(1));

  const numbers = [...before.reports, ...after.reports].map((report) => (report.is === 'output' ? report.seq : 0));
  expect(numbers.at(-1)).toBeGreaterThan(Math.max(...numbers.slice(0, -1)));
});

test('what is no longer alive is forgotten', async () => {
  const { open, output, view, reports } = aScene();
  open().message(piece(1));

  output.sweep();
  open().message(piece(1));
  view.sessions.set('s1', undefined);
  output.sweep();

  expect(reports.map((report) => report.is === 'output' && report.seq)).toEqual([1, 2]);
  expect(await output.lastSeq('s1')).toBe(0);
});
