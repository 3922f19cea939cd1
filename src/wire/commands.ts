import type { MessageInitShape } from '@bufbuild/protobuf';
import type { AgentCommand } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import type { RunAs, SessionSpec } from '#core/session.ts';
import type { TunnelEnd } from '#core/tunnel.ts';
import { checkedName } from './foreign-text.ts';
import {
  type Command,
  type Command_EndAt,
  type Command_OpenTunnel,
  type Command_OpenTunnelSchema,
  type Command_RunAsSchema,
  type Command_Start,
  type Command_StartSchema,
  CommandSchema,
} from './gen/velda/muster_pb.ts';
import { encode } from './messages.ts';

type Start = Extract<AgentCommand, { do: 'start' }>;
type What = NonNullable<MessageInitShape<typeof CommandSchema>['what']>;

const LONGEST_ID = 128;
// ECMA-262: what a Date can hold.
const LAST_DATE_MS = 8_640_000_000_000_000;
const wholeMs = (ms: number): bigint => BigInt(Math.max(0, Math.round(ms)));

const runAsOf = (runAs: RunAs): MessageInitShape<typeof Command_RunAsSchema> =>
  'user' in runAs ? { user: runAs.user } : { uid: runAs.uid, gid: runAs.gid, groups: [...runAs.groups] };

function startOf({ attempt, spec }: Start): MessageInitShape<typeof Command_StartSchema> {
  return {
    attempt,
    command: [...spec.command],
    env: spec.env,
    cwd: spec.cwd ?? '',
    ...(spec.terminal && { terminal: spec.terminal }),
    stdin: spec.stdin,
    priority: BigInt(Math.trunc(spec.priority)),
    labels: spec.labels,
    timeoutMs: wholeMs(spec.timeoutMs ?? 0),
    graceMs: wholeMs(spec.graceMs),
    retries: spec.retries,
    ...(spec.runAs && { runAs: runAsOf(spec.runAs) }),
    ...(spec.files && { files: { ...spec.files, bytes: BigInt(spec.files.bytes) } }),
  };
}

function toOf(to: TunnelEnd): NonNullable<MessageInitShape<typeof Command_OpenTunnelSchema>['to']> {
  if ('port' in to) return { case: 'port', value: to.port };
  return 'read' in to ? { case: 'read', value: to.read } : { case: 'write', value: to.write };
}

function whatOf(command: AgentCommand): What {
  switch (command.do) {
    case 'start':
      return { case: 'start', value: startOf(command) };
    case 'kill':
      return { case: 'kill', value: { force: command.force, graceMs: wholeMs(command.graceMs) } };
    case 'input':
      return { case: 'input', value: { data: command.data as Uint8Array<ArrayBuffer>, isLast: command.isLast } };
    case 'resize':
      return { case: 'resize', value: { columns: command.columns, rows: command.rows } };
    case 'ack':
      return { case: 'ack', value: { attempt: command.attempt, seq: command.seq, result: command.result } };
    case 'open tunnel': {
      const { id, attempt, to } = command;
      return { case: 'openTunnel', value: { id, attempt, to: toOf(to) } };
    }
    case 'close tunnel':
      return { case: 'closeTunnel', value: command.id };
    case 'drain':
      return { case: 'drain', value: { stop: command.stop } };
    case 'end at':
      return { case: 'endAt', value: command.at === undefined ? {} : { atMs: wholeMs(command.at) } };
  }
}

export function encodeCommand(command: AgentCommand): Uint8Array {
  const session = 'session' in command ? command.session : undefined;
  return encode(CommandSchema, { session: session ?? '', what: whatOf(command) });
}

function specOf(start: Command_Start): SessionSpec {
  const { terminal, timeoutMs, runAs, files } = start;
  if (start.command.length === 0) throw new Fault('invalid', 'The session has no command.', { at: 'start.command' });
  return {
    command: start.command,
    env: start.env,
    ...(start.cwd !== '' && { cwd: start.cwd }),
    ...(runAs && {
      runAs: runAs.user !== '' ? { user: runAs.user } : { uid: runAs.uid, gid: runAs.gid, groups: runAs.groups },
    }),
    ...(files && { files: { manifest: files.manifest, count: files.count, bytes: Number(files.bytes) } }),
    ...(terminal && { terminal: { columns: terminal.columns, rows: terminal.rows, type: terminal.type } }),
    stdin: start.stdin,
    priority: Number(start.priority),
    labels: start.labels,
    ...(timeoutMs > 0n && { timeoutMs: Number(timeoutMs) }),
    graceMs: Number(start.graceMs),
    retries: start.retries,
  };
}

function tunnelEndOf({ to }: Command_OpenTunnel): TunnelEnd {
  if (to.case === 'port') return { port: to.value };
  if (to.case === 'read') return { read: to.value };
  if (to.case === 'write') return { write: to.value };
  throw new Fault('unsupported', 'This agent does not know the end of the tunnel.', { at: 'open_tunnel.to' });
}

/** A tunnel without a session goes to the machine itself. */
const tunneledSession = (id: string): string | undefined =>
  id === '' ? undefined : checkedName(id, LONGEST_ID, 'command.session');

function openTunnelOf(session: string, value: Command_OpenTunnel): AgentCommand {
  const { id, attempt } = value;
  return { do: 'open tunnel', session: tunneledSession(session), attempt, id, to: tunnelEndOf(value) };
}

function endOf({ atMs }: Command_EndAt): number | undefined {
  if (atMs === undefined) return undefined;
  const at = Number(atMs);
  if (at >= 0 && at <= LAST_DATE_MS) return at;
  throw new Fault('invalid', 'end_at.at_ms is not a timestamp.', { at: 'end_at.at_ms' });
}

/** Undefined for a command that this version does not know. */
export function decodeCommand({ session: id, what }: Command): AgentCommand | undefined {
  if (what.case === undefined) return undefined;
  if (what.case === 'drain') return { do: 'drain', stop: what.value.stop };
  if (what.case === 'endAt') return { do: 'end at', at: endOf(what.value) };
  if (what.case === 'openTunnel') return openTunnelOf(id, what.value);
  if (what.case === 'closeTunnel') return { do: 'close tunnel', session: tunneledSession(id), id: what.value };
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
