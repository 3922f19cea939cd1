import { fromBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import type { AgentReport } from '#core/agent-link.ts';
import { silentLog } from '#core/log.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { type AgentUpdateResponse, AgentUpdateResponseSchema } from './gen/velda/broker_pb.ts';
import { openVeldaWire, type VeldaWireOptions } from './velda-wire.ts';

const spec = { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 1, retries: 0 };

function aWire({ lastSeq = async () => 0 }: Partial<Pick<VeldaWireOptions, 'lastSeq'>> = {}) {
  const clock = new VirtualClock();
  const sent: AgentUpdateResponse[] = [];
  const reports: AgentReport[] = [];
  const wire = openVeldaWire({
    stream: {
      write(bytes, written) {
        sent.push(fromBinary(AgentUpdateResponseSchema, bytes));
        written();
      },
    },
    server: { version: '1', cluster: 'c', agentLeaseMs: 1 },
    clock,
    log: silentLog,
    executions: [{ session: 's1', attempt: 1 }],
    report: (report) => void reports.push(report),
    fail: () => {},
    attemptNow: () => 1,
    lastSeq,
  });
  return { clock, sent, reports, wire };
}

const completion = { sessionCompletion: { sessionId: 's1', batchTaskResult: { exitCode: 0 } } } as never;

test('a slot rests a moment before the next session, and a kill does not overtake that session', async () => {
  const { clock, sent, wire } = aWire();

  wire.receive(completion);
  wire.send({ do: 'start', session: 's2', attempt: 1, spec });
  wire.send({ do: 'kill', session: 's2', force: true, graceMs: 0 });
  await clock.advance(49);
  expect(sent).toEqual([]);
  await clock.advance(1);

  expect(sent.map((answer) => answer.sessionRequest?.sessionId ?? answer.killSessionRequest)).toEqual([
    's2',
    expect.objectContaining({ sessionId: 's2', force: true }),
  ]);
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
