import type { AgentCommand } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import type { RunAs, SessionSpec } from '#core/session.ts';
import type { Command, Command_Start } from '../gen/velda/muster_pb.ts';
import { createBytesOut } from './bytes-out.ts';
import { checkedName } from './frame.ts';

type Start = Extract<AgentCommand, { do: 'start' }>;

const LONGEST_ID = 128;
const wholeMs = (ms: number): number => Math.max(0, Math.round(ms));

// The numbers of the fields are those of proto/velda/muster.proto; a test compares every command with the library's.
const SESSION = 1;
const START = 2;
const KILL = 3;
const INPUT = 4;
const RESIZE = 5;
const ACK = 6;
const DRAIN = 7;

const out = createBytesOut();

function writeRunAs(runAs: RunAs): void {
  const runAsAt = out.open(12);
  if ('user' in runAs) out.text(1, runAs.user);
  else {
    out.number(2, runAs.uid);
    out.number(3, runAs.gid);
    out.packed(4, runAs.groups);
  }
  out.close(runAsAt);
}

function writeTerminal({ columns, rows, type }: NonNullable<SessionSpec['terminal']>): void {
  const at = out.open(5);
  out.number(1, columns);
  out.number(2, rows);
  out.text(3, type);
  out.close(at);
}

function writeStart({ attempt, spec }: Start): void {
  out.number(1, attempt);
  for (const word of spec.command) out.entry(2, word);
  out.map(3, spec.env);
  out.text(4, spec.cwd ?? '');
  if (spec.terminal) writeTerminal(spec.terminal);
  out.bool(6, spec.stdin);
  out.number(7, Math.trunc(spec.priority));
  out.map(8, spec.labels);
  out.number(9, wholeMs(spec.timeoutMs ?? 0));
  out.number(10, wholeMs(spec.graceMs));
  out.number(11, spec.retries);
  if (spec.runAs) writeRunAs(spec.runAs);
}

const NUMBERS: Readonly<Record<AgentCommand['do'], number>> = {
  start: START,
  kill: KILL,
  input: INPUT,
  resize: RESIZE,
  ack: ACK,
  drain: DRAIN,
};

function writeWhat(command: AgentCommand): void {
  switch (command.do) {
    case 'start':
      return writeStart(command);
    case 'kill':
      out.bool(1, command.force);
      return out.number(2, wholeMs(command.graceMs));
    case 'input':
      out.bytes(1, command.data);
      return out.bool(2, command.isLast);
    case 'resize':
      out.number(1, command.columns);
      return out.number(2, command.rows);
    case 'ack':
      out.number(1, command.attempt);
      out.number(2, command.seq);
      return out.bool(3, command.result);
    case 'drain':
      return out.bool(1, command.stop);
  }
}

export function encodeCommand(command: AgentCommand): Uint8Array {
  if (command.do !== 'drain') out.text(SESSION, command.session);
  const at = out.open(NUMBERS[command.do]);
  writeWhat(command);
  out.close(at);
  return out.take();
}

function specOf(start: Command_Start): SessionSpec {
  const { terminal, timeoutMs, runAs } = start;
  if (start.command.length === 0) throw new Fault('invalid', 'The session has no command.', { at: 'start.command' });
  return {
    command: start.command,
    env: start.env,
    ...(start.cwd !== '' && { cwd: start.cwd }),
    ...(runAs && {
      runAs: runAs.user !== '' ? { user: runAs.user } : { uid: runAs.uid, gid: runAs.gid, groups: runAs.groups },
    }),
    ...(terminal && { terminal: { columns: terminal.columns, rows: terminal.rows, type: terminal.type } }),
    stdin: start.stdin,
    priority: Number(start.priority),
    labels: start.labels,
    ...(timeoutMs > 0n && { timeoutMs: Number(timeoutMs) }),
    graceMs: Number(start.graceMs),
    retries: start.retries,
  };
}

/** Undefined for a command that this version does not know. */
export function decodeCommand({ session: id, what }: Command): AgentCommand | undefined {
  if (what.case === undefined) return undefined;
  if (what.case === 'drain') return { do: 'drain', stop: what.value.stop };
  const session = checkedName(id, LONGEST_ID, 'command.session');
  switch (what.case) {
    case 'start':
      return { do: 'start', session, attempt: what.value.attempt, spec: specOf(what.value) };
    case 'kill':
      return { do: 'kill', session, force: what.value.force, graceMs: Number(what.value.graceMs) };
    case 'input':
      return { do: 'input', session, data: new Uint8Array(what.value.data), isLast: what.value.isLast };
    case 'resize':
      return { do: 'resize', session, columns: what.value.columns, rows: what.value.rows };
    case 'ack':
      return { do: 'ack', session, attempt: what.value.attempt, seq: what.value.seq, result: what.value.result };
  }
}
