import { create, fromBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import type { AgentReport } from '#core/agent-link.ts';
import { silentLog } from '#core/log.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import {
  AgentUpdateRequestSchema,
  type AgentUpdateResponse,
  AgentUpdateResponseSchema,
} from '#wire/gen/velda/broker_pb.ts';
import { openSharedAlarm } from '#wire/shared-alarm.ts';
import { openVeldaWire, type VeldaWireOptions } from './velda-wire.ts';

const spec = { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 1, retries: 0 };

type Changes = Partial<Pick<VeldaWireOptions, 'lastSeq' | 'slots' | 'executions'>>;

function aWire({ lastSeq = async () => 0, slots = 1, executions = [{ session: 's1', attempt: 1 }] }: Changes = {}) {
  const clock = new VirtualClock();
  const sent: AgentUpdateResponse[] = [];
  const reports: AgentReport[] = [];
  const wire = openVeldaWire({
    write(bytes, written) {
      sent.push(fromBinary(AgentUpdateResponseSchema, bytes));
      written();
    },
    server: { version: '1', cluster: 'c', agentLeaseMs: 1 },
    clock,
    log: silentLog,
    later: openSharedAlarm(clock, 20),
    executions,
    slots,
    report: (report) => void reports.push(report),
    fail: () => {},
    attemptNow: () => 1,
    lastSeq,
  });
  return { clock, sent, reports, wire };
}

const askedFor = (sent: readonly AgentUpdateResponse[]) => sent.map((answer) => answer.sessionRequest?.sessionId);
const ended = (sessionId: string) => {
  const sessionCompletion = { sessionId, batchTaskResult: { exitCode: 0 } };
  return create(AgentUpdateRequestSchema, { sessionCompletion });
};
const completion = ended('s1');

test('a slot rests a moment before its next session', async () => {
  const { clock, sent, wire } = aWire();

  wire.receive(completion);
  wire.send({ do: 'start', session: 's2', attempt: 1, spec });
  await clock.advance(49);
  expect(sent).toEqual([]);
  await clock.advance(1);

  expect(askedFor(sent)).toEqual(['s2']);
});

test('only the slot that became free rests: others take sessions at once, however many end', async () => {
  const running = Array.from({ length: 20 }, (_, n) => ({ session: `r${n}`, attempt: 1 }));
  const { clock, sent, wire } = aWire({ slots: 22, executions: running });

  wire.receive(ended('r0'));
  for (const session of ['a', 'b', 'c']) wire.send({ do: 'start', session, attempt: 1, spec });
  await clock.settle();
  const atOnce = askedFor(sent);
  // Each end would have begun the rest of all anew.
  for (let n = 1; n <= 5; n++) {
    await clock.advance(20);
    wire.receive(ended(`r${n}`));
  }

  expect(atOnce).toEqual(['a', 'b']);
  expect(askedFor(sent)).toEqual(['a', 'b', 'c']);
});

test('a kill waits for nothing, and a session whose slot still rests never starts', async () => {
  const { clock, sent, reports, wire } = aWire({
    slots: 2,
    executions: ['s1', 's3'].map((session) => ({ session, attempt: 1 })),
  });

  wire.receive(completion);
  wire.send({ do: 'start', session: 's2', attempt: 1, spec });
  wire.send({ do: 'kill', session: 's3', force: true, graceMs: 0 });
  wire.send({ do: 'kill', session: 's2', force: true, graceMs: 0 });
  await clock.settle();

  expect(sent.map((answer) => answer.killSessionRequest?.sessionId)).toEqual(['s3']);
  expect(reports).toContainEqual({ is: 'ended', session: 's2', attempt: 1, lastSeq: 0, how: 'killed' });
  await clock.advance(1_000);
  expect(sent).toHaveLength(1);
});

test('what waits for a slot is forgotten with the connection', async () => {
  const { clock, sent, wire } = aWire();

  wire.receive(completion);
  wire.send({ do: 'start', session: 's2', attempt: 1, spec });
  wire.close();
  await clock.advance(100);

  expect(sent).toEqual([]);
});

test('an end that waits for late output is reported when the connection closes: the agent will not report it again', async () => {
  const { clock, reports, wire } = aWire({
    lastSeq: (_session, hurry) => new Promise((resolve) => hurry.addEventListener('abort', () => resolve(7))),
  });

  wire.receive(completion);
  await clock.advance(1_000);
  expect(reports).toEqual([]);
  wire.close();
  await clock.advance(0);

  expect(reports).toEqual([{ is: 'ended', session: 's1', attempt: 1, lastSeq: 7, how: 'exited', exitCode: 0 }]);
});
