import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import type { AgentReport } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import {
  type Report,
  type Report_Ended,
  Report_ForGood,
  Report_How,
  type Report_Output,
  type Report_Refused,
  Report_Stream,
  ReportSchema,
} from '../gen/velda/muster_pb.ts';
import { checkedName, tame } from './frame.ts';

type What = NonNullable<MessageInitShape<typeof ReportSchema>['what']>;
type Ended = Extract<AgentReport, { is: 'ended' }>;

const LONGEST_ID = 128;
const LONGEST_TEXT = 4_096;

const HOWS: Readonly<Record<Ended['how'], Report_How>> = {
  exited: Report_How.EXITED,
  signalled: Report_How.SIGNALLED,
  killed: Report_How.KILLED,
  timeout: Report_How.TIMEOUT,
  lost: Report_How.LOST,
};
const HOW_BY_NUMBER = new Map(Object.entries(HOWS).map(([how, number]) => [number, how as Ended['how']]));

const FOR_GOOD = {
  not: Report_ForGood.UNSPECIFIED,
  here: Report_ForGood.HERE,
  anywhere: Report_ForGood.ANYWHERE,
} as const;

function refusedOf(head: Head, { why, forGood }: Report_Refused): AgentReport {
  const said = { is: 'refused', ...head, why: tame(why, LONGEST_TEXT) } as const;
  if (forGood === Report_ForGood.HERE) return { ...said, forGood: 'here' };
  return forGood === Report_ForGood.ANYWHERE ? { ...said, forGood: 'anywhere' } : said;
}

function whatOf(report: AgentReport): What {
  switch (report.is) {
    case 'started':
      return { case: 'started', value: {} };
    case 'refused':
      return { case: 'refused', value: { why: report.why, forGood: FOR_GOOD[report.forGood ?? 'not'] } };
    case 'output': {
      const stream = report.stream === 'stdout' ? Report_Stream.STDOUT : Report_Stream.STDERR;
      return { case: 'output', value: { seq: report.seq, stream, data: report.data as Uint8Array<ArrayBuffer> } };
    }
    case 'input taken':
      return { case: 'inputTaken', value: { bytes: BigInt(report.bytes) } };
    case 'ended':
      return {
        case: 'ended',
        value: {
          lastSeq: report.lastSeq,
          how: HOWS[report.how],
          ...(report.exitCode !== undefined && { exitCode: report.exitCode }),
          signal: report.signal ?? '',
          message: report.message ?? '',
        },
      };
  }
}

export function encodeReport(report: AgentReport): Uint8Array {
  const { session, attempt } = report;
  return toBinary(ReportSchema, create(ReportSchema, { session, attempt, what: whatOf(report) }));
}

type Head = { readonly session: string; readonly attempt: number };

function outputOf(head: Head, { seq, stream, data }: Report_Output): AgentReport {
  if (seq < 1) throw new Fault('invalid', 'A chunk of output has no sequence number.', { at: 'report.output.seq' });
  const name = stream === Report_Stream.STDERR ? 'stderr' : 'stdout';
  // A copy, since a decoded field is a window on its message and would keep all of it in memory.
  return { is: 'output', ...head, seq, stream: name, data: new Uint8Array(data) };
}

function endedOf(head: Head, ended: Report_Ended): AgentReport {
  const how = HOW_BY_NUMBER.get(ended.how);
  if (!how) throw new Fault('invalid', 'The report has an unknown outcome.', { at: 'report.ended.how' });
  return {
    is: 'ended',
    ...head,
    lastSeq: ended.lastSeq,
    how,
    ...(ended.exitCode !== undefined && { exitCode: ended.exitCode }),
    ...(ended.signal !== '' && { signal: tame(ended.signal, 32) }),
    ...(ended.message !== '' && { message: tame(ended.message, LONGEST_TEXT) }),
  };
}

/** Undefined for a report that this version does not know; a `Fault` for an invalid one. */
export function decodeReport({ session, attempt, what }: Report): AgentReport | undefined {
  if (what.case === undefined) return undefined;
  if (attempt < 1) throw new Fault('invalid', 'The report has no attempt.', { at: 'report.attempt' });
  const head = { session: checkedName(session, LONGEST_ID, 'report.session'), attempt };
  switch (what.case) {
    case 'started':
      return { is: 'started', ...head };
    case 'refused':
      return refusedOf(head, what.value);
    case 'inputTaken':
      return { is: 'input taken', ...head, bytes: Number(what.value.bytes) };
    case 'output':
      return outputOf(head, what.value);
    case 'ended':
      return endedOf(head, what.value);
  }
}
