import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import type { AgentReport } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import { Report_ForGood, Report_How, Report_Stream, ReportSchema } from '../gen/velda/muster_pb.ts';
import { BytesIn } from './bytes-in.ts';
import { checkedName, tame } from './frame.ts';

type What = NonNullable<MessageInitShape<typeof ReportSchema>['what']>;
type Ended = Extract<AgentReport, { is: 'ended' }>;

const LONGEST_ID = 128;
const LONGEST_TEXT = 4_096;
// As many as are taken within some ten milliseconds.
const MOST_REPORTS = 20_000;

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
  return toBinary(ReportSchema, create(ReportSchema, { session, attempt, what: whatOf(report) }));
}

// The numbers of the fields are those of proto/velda; a test compares every report with the library's.
const REPORTS = 1001;

const from = new BytesIn();

interface Head {
  session: string;
  attempt: number;
}

function readRefused(head: Head): AgentReport {
  let why = '';
  let forGood = 0;
  for (let field = from.next(); field !== 0; field = from.next()) {
    if (field === 1) why = from.text();
    else if (field === 2) forGood = from.signed();
    else from.skip();
  }
  const said = { is: 'refused', ...head, why: tame(why, LONGEST_TEXT) } as const;
  if (forGood === Report_ForGood.HERE) return { ...said, forGood: 'here' };
  return forGood === Report_ForGood.ANYWHERE ? { ...said, forGood: 'anywhere' } : said;
}

function readOutput({ session, attempt }: Head): AgentReport {
  let seq = 0;
  let stream = 0;
  let data: Uint8Array = new Uint8Array();
  for (let field = from.next(); field !== 0; field = from.next()) {
    if (field === 1) seq = from.unsigned();
    else if (field === 2) stream = from.signed();
    // A copy, since a window on the message would keep all of it in memory.
    else if (field === 3) data = new Uint8Array(from.bytes());
    else from.skip();
  }
  if (seq < 1) throw new Fault('invalid', 'A chunk of output has no sequence number.', { at: 'report.output.seq' });
  return { is: 'output', session, attempt, seq, stream: stream === Report_Stream.STDERR ? 'stderr' : 'stdout', data };
}

interface Ending {
  lastSeq: number;
  how: number;
  exitCode: number | undefined;
  signal: string;
  message: string;
}

function readEnding(): Ending {
  const ending: Ending = { lastSeq: 0, how: 0, exitCode: undefined, signal: '', message: '' };
  for (let field = from.next(); field !== 0; field = from.next()) {
    if (field === 1) ending.lastSeq = from.unsigned();
    else if (field === 2) ending.how = from.signed();
    else if (field === 3) ending.exitCode = from.signed();
    else if (field === 4) ending.signal = from.text();
    else if (field === 5) ending.message = from.text();
    else from.skip();
  }
  return ending;
}

function readEnded({ session, attempt }: Head): AgentReport {
  const { lastSeq, how: number, exitCode, signal, message } = readEnding();
  const how = HOW_BY_NUMBER.get(number);
  if (!how) throw new Fault('invalid', 'The report has an unknown outcome.', { at: 'report.ended.how' });
  return {
    is: 'ended',
    session,
    attempt,
    lastSeq,
    how,
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== '' && { signal: tame(signal, 32) }),
    ...(message !== '' && { message: tame(message, LONGEST_TEXT) }),
  };
}

function readInputTaken({ session, attempt }: Head): AgentReport {
  let bytes = 0;
  for (let field = from.next(); field !== 0; field = from.next()) {
    if (field === 1) bytes = from.long();
    else from.skip();
  }
  return { is: 'input taken', session, attempt, bytes };
}

function readWhat(what: number, head: Head): AgentReport | undefined {
  switch (what) {
    case 3:
      return { is: 'started', session: head.session, attempt: head.attempt };
    case 4:
      return readRefused(head);
    case 5:
      return readOutput(head);
    case 6:
      return readEnded(head);
    case 7:
      return readInputTaken(head);
    default:
      return undefined;
  }
}

/** Its fields may come in any order, so what it says is read when its head is known. */
function readReport(): AgentReport | undefined {
  const head: Head = { session: '', attempt: 0 };
  let what = 0;
  let start = 0;
  for (let field = from.next(); field !== 0; field = from.next()) {
    if (field === 1) head.session = from.text();
    else if (field === 2) head.attempt = from.unsigned();
    else if (field >= 3 && field <= 7) {
      what = field;
      start = from.pass();
    } else from.skip();
  }
  if (what === 0) return undefined;
  if (head.attempt < 1) throw new Fault('invalid', 'The report has no attempt.', { at: 'report.attempt' });
  checkedName(head.session, LONGEST_ID, 'report.session');
  from.enter(start);
  return readWhat(what, head);
}

/** The reports of an agent's message; undefined for one that this version does not know; a `Fault` for an invalid one. */
export function readReports(message: Uint8Array): readonly (AgentReport | undefined)[] {
  const reports: (AgentReport | undefined)[] = [];
  from.begin(message);
  for (let field = from.next(); field !== 0; field = from.next()) {
    if (field !== REPORTS) {
      from.skip();
      continue;
    }
    if (reports.length === MOST_REPORTS) {
      const why = `The message has more than ${MOST_REPORTS} reports.`;
      throw new Fault('invalid', why, { remedy: 'Send less in one message.' });
    }
    const start = from.pass();
    from.enter(start);
    reports.push(readReport());
    from.leave(start);
  }
  return reports;
}
