import type { MessageInitShape } from '@bufbuild/protobuf';
import type { AgentReport } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import { checkedName, tame } from './foreign-text.ts';
import {
  type Report,
  type Report_Ended,
  Report_ForGood,
  Report_How,
  type Report_Output,
  Report_Stream,
  ReportSchema,
} from './gen/velda/muster_pb.ts';
import { encode } from './messages.ts';

type What = NonNullable<MessageInitShape<typeof ReportSchema>['what']>;
type Ended = Extract<AgentReport, { is: 'ended' }>;
type Head = Pick<AgentReport, 'session' | 'attempt'>;

const LONGEST_ID = 128;
const LONGEST_TEXT = 4_096;
// As many as are taken within some ten milliseconds.
const MOST_REPORTS = 20_000;
/** How many fields the reports of one message can have. */
export const MOST_REPORT_FIELDS = 9 * MOST_REPORTS;

const HOWS: Readonly<Record<Ended['how'], Report_How>> = {
  exited: Report_How.EXITED,
  signalled: Report_How.SIGNALLED,
  killed: Report_How.KILLED,
  timeout: Report_How.TIMEOUT,
  lost: Report_How.LOST,
};
const HOW_BY_NUMBER = new Map<number, Ended['how']>(
  Object.entries(HOWS).map(([how, number]) => [number, how as Ended['how']]),
);

const FOR_GOOD = {
  not: Report_ForGood.UNSPECIFIED,
  here: Report_ForGood.HERE,
  anywhere: Report_ForGood.ANYWHERE,
} as const;

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
  return encode(ReportSchema, { session, attempt, what: whatOf(report) });
}

function forGoodOf(forGood: Report_ForGood): { forGood?: 'here' | 'anywhere' } {
  if (forGood === Report_ForGood.HERE) return { forGood: 'here' };
  return forGood === Report_ForGood.ANYWHERE ? { forGood: 'anywhere' } : {};
}

function outputOf(head: Head, { seq, stream, data }: Report_Output): AgentReport {
  if (seq < 1) throw new Fault('invalid', 'A chunk of output has no sequence number.', { at: 'report.output.seq' });
  const name = stream === Report_Stream.STDERR ? 'stderr' : 'stdout';
  // A copy, since a window on the message would keep all of it in memory.
  return { is: 'output', ...head, seq, stream: name, data: new Uint8Array(data) };
}

function endedOf(head: Head, { lastSeq, how: number, exitCode, signal, message }: Report_Ended): AgentReport {
  const how = HOW_BY_NUMBER.get(number);
  if (!how) throw new Fault('invalid', 'The report has an unknown outcome.', { at: 'report.ended.how' });
  return {
    is: 'ended',
    ...head,
    lastSeq,
    how,
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== '' && { signal: tame(signal, 32) }),
    ...(message !== '' && { message: tame(message, LONGEST_TEXT) }),
  };
}

function readReport({ session, attempt, what }: Report): AgentReport | undefined {
  if (what.case === undefined) return undefined;
  if (attempt < 1) throw new Fault('invalid', 'The report has no attempt.', { at: 'report.attempt' });
  const head = { session: checkedName(session, LONGEST_ID, 'report.session'), attempt };
  switch (what.case) {
    case 'started':
      return { is: 'started', ...head };
    case 'refused':
      return { is: 'refused', ...head, why: tame(what.value.why, LONGEST_TEXT), ...forGoodOf(what.value.forGood) };
    case 'output':
      return outputOf(head, what.value);
    case 'ended':
      return endedOf(head, what.value);
    case 'inputTaken':
      return { is: 'input taken', ...head, bytes: Number(what.value.bytes) };
  }
}

/** The reports of an agent's message; undefined for one that this version does not know; a `Fault` for an invalid one. */
export function readReports(reports: readonly Report[]): readonly (AgentReport | undefined)[] {
  if (reports.length <= MOST_REPORTS) return reports.map(readReport);
  const why = `The message has more than ${MOST_REPORTS} reports.`;
  throw new Fault('invalid', why, { remedy: 'Send less in one message.' });
}
