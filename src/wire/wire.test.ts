import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AgentCommand, AgentReport } from '#core/agent-link.ts';
import { decodeCommand, encodeCommand } from './commands.ts';
import { tame } from './foreign-text.ts';
import { AgentUpdateRequestSchema, AgentUpdateResponseSchema } from './gen/velda/broker_pb.ts';
import { CommandSchema, type Report_How, ReportSchema, TunnelPieceSchema } from './gen/velda/muster_pb.ts';
import { bytesMessage, decode, messageOf } from './messages.ts';
import { encodeReport, readReports } from './reports.ts';

const REPORTS = AgentUpdateRequestSchema.field.reports.number;
const readMessage = (bytes: Uint8Array) => readReports(decode(AgentUpdateRequestSchema, bytes).reports);
const reportsOf = (report: MessageInitShape<typeof ReportSchema>) => [create(ReportSchema, report)];

const id = fc.stringMatching(/^[a-z0-9]{1,20}$/);
const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const attempt = fc.integer({ min: 1, max: 2 ** 32 - 1 });
const seq = fc.integer({ min: 1, max: 2 ** 32 - 1 });
const number32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const size = fc.integer({ min: 0, max: 65_535 });
const ms = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const date = fc.integer({ min: 0, max: 8_640_000_000_000_000 });
const map = fc
  .dictionary(text, text, { noNullPrototype: true })
  .filter((entries) => !Object.hasOwn(entries, '__proto__'));

const spec = fc.record(
  {
    command: fc.array(text, { minLength: 1, maxLength: 5 }),
    env: map,
    cwd: text.filter((cwd) => cwd !== ''),
    terminal: fc.record({ columns: size, rows: size, type: text }),
    runAs: fc.oneof(
      fc.record({ user: text.filter((user) => user !== '') }),
      fc.record({ uid: number32, gid: number32, groups: fc.array(number32) }),
    ),
    stdin: fc.boolean(),
    priority: fc.maxSafeInteger(),
    labels: map,
    timeoutMs: ms,
    graceMs: ms,
    retries: size,
  },
  { requiredKeys: ['command', 'env', 'stdin', 'priority', 'labels', 'graceMs', 'retries'] },
);

const command: fc.Arbitrary<AgentCommand> = fc.oneof(
  fc.record({ do: fc.constant('start' as const), session: id, attempt, spec }),
  fc.record({ do: fc.constant('kill' as const), session: id, force: fc.boolean(), graceMs: ms }),
  fc.record({ do: fc.constant('input' as const), session: id, data: fc.uint8Array(), isLast: fc.boolean() }),
  fc.record({ do: fc.constant('resize' as const), session: id, columns: size, rows: size }),
  fc.record({ do: fc.constant('ack' as const), session: id, attempt, seq, result: fc.boolean() }),
  fc.record({ do: fc.constant('drain' as const), stop: fc.boolean() }),
  fc.record({ do: fc.constant('end at' as const), at: fc.option(date, { nil: undefined }) }),
);

// Lengths of one to three bytes, within each other.
const hugeCommand: fc.Arbitrary<AgentCommand> = fc
  .record({
    do: fc.constant('start' as const),
    session: id,
    attempt,
    spec,
    length: fc.integer({ min: 100, max: 70_000 }),
  })
  .map(({ length, ...one }) => ({
    ...one,
    spec: { ...one.spec, env: { ...one.spec.env, LARGE: 'ä'.repeat(length) } },
  }));

const line = text.map((said) => said.replaceAll('\0', '')).filter((said) => said !== '');
const report: fc.Arbitrary<AgentReport> = fc.oneof(
  fc.record({ is: fc.constant('started' as const), session: id, attempt }),
  fc.record({ is: fc.constant('input taken' as const), session: id, attempt, bytes: fc.maxSafeNat() }),
  fc.record(
    {
      is: fc.constant('refused' as const),
      session: id,
      attempt,
      why: line,
      forGood: fc.constantFrom('here' as const, 'anywhere' as const),
    },
    { requiredKeys: ['is', 'session', 'attempt', 'why'] },
  ),
  fc.record({
    is: fc.constant('output' as const),
    session: id,
    attempt,
    seq,
    stream: fc.constantFrom('stdout' as const, 'stderr' as const),
    data: fc.uint8Array(),
  }),
  fc.record(
    {
      is: fc.constant('ended' as const),
      session: id,
      attempt,
      lastSeq: size,
      how: fc.constantFrom(
        'exited' as const,
        'signalled' as const,
        'killed' as const,
        'timeout' as const,
        'lost' as const,
      ),
      exitCode: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      signal: fc.constantFrom('SIGTERM', 'SIGKILL'),
      message: line,
    },
    { requiredKeys: ['is', 'session', 'attempt', 'lastSeq', 'how'] },
  ),
);

test('commands arrive as they were sent, many in one message', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(command, hugeCommand), { maxLength: 10 }), (commands) => {
      const message = messageOf(AgentUpdateResponseSchema.field.commands.number, commands.map(encodeCommand));

      expect(fromBinary(AgentUpdateResponseSchema, message).commands.map(decodeCommand)).toEqual(commands);
    }),
  );
});

test.each([-1n, 8_640_000_000_000_001n])('an end that no clock can show is refused: %s', (atMs) => {
  const endless = create(CommandSchema, { what: { case: 'endAt', value: { atMs } } });

  expect(() => decodeCommand(endless)).toThrow(expect.objectContaining({ kind: 'invalid', at: 'end_at.at_ms' }));
});

test('reports arrive as they were sent, many in one message', () => {
  fc.assert(
    fc.property(fc.array(report, { maxLength: 10 }), (reports) => {
      const message = messageOf(AgentUpdateRequestSchema.field.reports.number, reports.map(encodeReport));

      expect(readMessage(message)).toEqual(reports);
    }),
  );
});

test('a report is read with its fields in any order, and with fields that a later version may add', () => {
  const ended = encodeReport({ is: 'ended', session: 's1', attempt: 7, lastSeq: 2, how: 'exited', exitCode: -1 });
  // Session and attempt take the first six bytes.
  const turned = Buffer.concat([ended.subarray(6), Buffer.from([0x98, 0x01, 0x05]), ended.subarray(0, 6)]);
  const slots = toBinary(AgentUpdateRequestSchema, create(AgentUpdateRequestSchema, { slots: 3 }));

  const message = Buffer.concat([slots, messageOf(REPORTS, [turned, ended])]);

  const read = { is: 'ended', session: 's1', attempt: 7, lastSeq: 2, how: 'exited', exitCode: -1 };
  expect(readMessage(message)).toEqual([read, read]);
});

test('no bytes but those of a message are taken for one, and none are read beyond its end', () => {
  const sent: AgentReport = { is: 'ended', session: 'é', attempt: 1, lastSeq: 300, how: 'exited', message: 'ü' };
  const message = messageOf(REPORTS, [encodeReport(sent)]);
  const isLibraryContent = (bytes: Uint8Array): boolean => {
    try {
      fromBinary(AgentUpdateRequestSchema, bytes);
      return true;
    } catch {
      return false;
    }
  };

  for (let length = 0; length < message.length; length++) {
    const cut = message.subarray(0, length);
    if (isLibraryContent(cut)) expect(readMessage(cut).length).toBeLessThanOrEqual(1);
    else expect(() => readMessage(cut)).toThrow(expect.objectContaining({ kind: 'invalid' }));
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      try {
        readMessage(bytes);
      } catch (thrown) {
        expect(thrown).toMatchObject({ kind: 'invalid' });
      }
    }),
  );
});

test('a message of too many reports is refused', () => {
  const reports = Array.from({ length: 20_001 }, () => create(ReportSchema));

  expect(() => readReports(reports)).toThrow('more than 20000 reports');
});

test('a batch of encoded reports is the very message that the library writes', () => {
  const sizes = [0, 1, 127, 128, 300, 20_000];
  const reports = sizes.map((bytes): AgentReport => {
    return { is: 'output', session: 's', attempt: 1, seq: 1, stream: 'stdout', data: new Uint8Array(bytes).fill(7) };
  });

  const batch = messageOf(AgentUpdateRequestSchema.field.reports.number, reports.map(encodeReport));

  const whole = toBinary(AgentUpdateRequestSchema, fromBinary(AgentUpdateRequestSchema, batch));
  expect(Buffer.from(batch).equals(whole)).toBe(true);
});

test('a message of bytes alone is the very message that the library writes', () => {
  for (const length of [1, 127, 128, 65_536, 300_000]) {
    const data = new Uint8Array(length).fill(7);
    const written = toBinary(TunnelPieceSchema, create(TunnelPieceSchema, { data }));

    expect(Buffer.compare(bytesMessage(TunnelPieceSchema.field.data.number, data), written)).toBe(0);
  }
});

test.each([{ port: 8_000 }, { read: '/etc/hosts' }])(
  'a tunnel to the machine itself has no session on both sides: %j',
  (to) => {
    const opened = { do: 'open tunnel', session: undefined, attempt: 0, id: 't', to } as const;
    const closed = { do: 'close tunnel', session: undefined, id: 't' } as const;

    for (const command of [opened, closed])
      expect(decodeCommand(fromBinary(CommandSchema, encodeCommand(command)))).toEqual(command);
  },
);

test('what a later version may say is passed over', () => {
  expect(readReports(reportsOf({ session: 's', attempt: 1 }))).toEqual([undefined]);
  expect(decodeCommand({ session: '', what: { case: undefined } } as never)).toBeUndefined();
});

test.each([
  [{ session: '', attempt: 1, what: { case: 'started' as const, value: {} } }, 'report.session'],
  [{ session: 'a\0b', attempt: 1, what: { case: 'started' as const, value: {} } }, 'report.session'],
  [{ session: 'x'.repeat(200), attempt: 1, what: { case: 'started' as const, value: {} } }, 'report.session'],
  [{ session: 's', attempt: 0, what: { case: 'started' as const, value: {} } }, 'report.attempt'],
  [{ session: 's', attempt: 1, what: { case: 'output' as const, value: { seq: 0 } } }, 'report.output.seq'],
  [
    { session: 's', attempt: 1, what: { case: 'ended' as const, value: { how: 99 as Report_How } } },
    'report.ended.how',
  ],
])('a report that makes no sense is refused, with the place: %#', (message, at) => {
  expect(() => readReports(reportsOf(message))).toThrow(expect.objectContaining({ kind: 'invalid', at }));
});

test('foreign text loses what no database takes', () => {
  expect(tame('a\0b\ud800c', 10)).toBe('a\ufffdb\ufffdc');
  expect(tame('x'.repeat(20), 10)).toHaveLength(10);
});
