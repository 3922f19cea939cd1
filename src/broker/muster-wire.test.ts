import { fromBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import type { AgentReport } from '#core/agent-link.ts';
import type { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { decodeCommand } from '#wire/commands.ts';
import { type AgentUpdateResponse, AgentUpdateResponseSchema } from '#wire/gen/velda/broker_pb.ts';
import { openSharedAlarm } from '#wire/shared-alarm.ts';
import type { WireOptions } from './agent-wire.ts';
import { openMusterWire } from './muster-wire.ts';

function aWire(canRunAs = true) {
  const clock = new VirtualClock();
  const sent: AgentUpdateResponse[] = [];
  const reports: AgentReport[] = [];
  const failures: Fault[] = [];
  const options: WireOptions = {
    write(bytes, written) {
      expect(bytes.length).toBeLessThanOrEqual(4 * 1024 * 1024);
      sent.push(fromBinary(AgentUpdateResponseSchema, bytes));
      clock.soon(written);
    },
    server: { version: '1', cluster: 'c', agentLeaseMs: 1 },
    clock,
    log: silentLog,
    later: openSharedAlarm(clock, 20),
    report: (report) => void reports.push(report),
    fail: (fault) => void failures.push(fault),
  };
  const wire = openMusterWire(options, canRunAs);
  return { clock, sent, reports, failures, wire };
}

const spec = { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 1, retries: 0 };
const sessionsIn = (sent: readonly AgentUpdateResponse[]) =>
  sent.flatMap(({ commands }) => commands.map((command) => command.session));

test('sessions for all slots of a large agent go out, however much they are together', async () => {
  const { clock, sent, failures, wire } = aWire();
  const sessions = Array.from({ length: 40 }, (_, at) => `s${at}`);
  const large = { ...spec, env: { LARGE: 'x'.repeat(500_000) } };

  for (const session of sessions) wire.send({ do: 'start', session, attempt: 1, spec: large });
  wire.send({ do: 'kill', session: 's0', force: true, graceMs: 0 });
  await clock.settle();

  expect(failures).toEqual([]);
  expect(sessionsIn(sent)).toEqual([...sessions, 's0']);
});

test('all commands of one commit leave in one message, before those who wait for the commit go on', async () => {
  const { sent, wire } = aWire();

  wire.send({ do: 'start', session: 's1', attempt: 1, spec });
  wire.send({ do: 'kill', session: 's2', force: true, graceMs: 0 });
  expect(sent).toEqual([]);
  await Promise.resolve();

  expect(sent.map(({ commands }) => commands.map(({ session }) => session))).toEqual([['s1', 's2']]);
});

test('input for an agent that does not read is not kept without end', async () => {
  const { sent, failures, wire } = aWire();
  const data = new Uint8Array(1024 * 1024);

  for (let count = 0; count < 17; count++) wire.send({ do: 'input', session: 's1', data, isLast: false });

  expect(failures).toMatchObject([{ kind: 'throttled' }]);
  expect(sent).toEqual([]);
});

test('much input is cut into messages that an agent takes, and only the last piece is the last', async () => {
  const { clock, sent, wire } = aWire();
  const data = new Uint8Array(5 * 1024 * 1024 + 1).map((_, at) => at % 251);

  wire.send({ do: 'input', session: 's1', data, isLast: true });
  await clock.settle();

  const pieces = sent
    .flatMap(({ commands }) => commands.map(decodeCommand))
    .flatMap((command) => (command?.do === 'input' ? [command] : []));
  expect(Buffer.concat(pieces.map((piece) => piece.data)).equals(data)).toBe(true);
  expect(pieces.map((piece) => piece.isLast).indexOf(true)).toBe(pieces.length - 1);
});

test('a session that no message can hold is refused, and not at once', async () => {
  const { clock, sent, reports, wire } = aWire();

  wire.send({ do: 'start', session: 's1', attempt: 3, spec: { ...spec, command: ['x'.repeat(4 * 1024 * 1024)] } });
  expect(reports).toEqual([]);
  await clock.settle();

  expect(reports).toEqual([
    { is: 'refused', session: 's1', attempt: 3, forGood: 'anywhere', why: expect.stringContaining('bytes') },
  ]);
  expect(sent).toEqual([]);
});

test('an agent that cannot run a session as another user never gets one', async () => {
  const { clock, sent, reports, wire } = aWire(false);

  wire.send({ do: 'start', session: 's1', attempt: 1, spec: { ...spec, runAs: { user: 'ada' } } });
  wire.send({ do: 'start', session: 's2', attempt: 1, spec });
  await clock.settle();

  expect(sessionsIn(sent)).toEqual(['s2']);
  expect(reports).toMatchObject([{ is: 'refused', session: 's1', why: expect.stringContaining('another user') }]);
});

test('the acknowledgement of an end travels with the next session, that of output at once', async () => {
  const { clock, sent, wire } = aWire();
  const did = (): readonly (string | undefined)[][] =>
    sent.map(({ commands }) => commands.map((command) => `${command.what.case} ${command.session}`));

  wire.send({ do: 'ack', session: 's1', attempt: 1, seq: 3, result: true });
  await clock.settle();
  expect(did()).toEqual([]);
  wire.send({ do: 'start', session: 's2', attempt: 1, spec });
  await clock.settle();
  wire.send({ do: 'ack', session: 's2', attempt: 1, seq: 1, result: false });
  await clock.settle();

  expect(did()).toEqual([['ack s1', 'start s2'], ['ack s2']]);
});
