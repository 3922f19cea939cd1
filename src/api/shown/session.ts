import type { z } from 'zod';
import { formatDuration } from '#core/duration.ts';
import { exitCodeOf, type OutputChunk, type Session, type SessionSpec, sessionPhase } from '#core/session.ts';
import type { Store } from '#core/store.ts';
import type * as wire from '../wire/session.ts';
import { toTime, toTimeIf } from '../wire/shared.ts';

function shownEnd({ end }: Session): wire.Session['end'] {
  if (!end) return undefined;
  return { at: toTime(end.at), how: end.how, exit_code: exitCodeOf(end), signal: end.signal, message: end.message };
}

function whyUnmatched({ worker, end, unmatched, poolName }: Session): string | undefined {
  if (worker !== undefined || end || unmatched === undefined) return undefined;
  return `No worker of pool ${poolName} offers ${unmatched}. The session starts when one does; no machine is launched for it.`;
}

function shownUser({ runAs }: SessionSpec): string | undefined {
  if (!runAs) return undefined;
  return 'user' in runAs ? runAs.user : `${runAs.uid}:${runAs.gid}`;
}

export function shownSession(session: Session, store: Store): wire.Session {
  const { spec, kill, worker, output } = session;
  return {
    id: session.id,
    name: session.name,
    index: session.part?.index,
    count: session.part?.count,
    ...(session.use === 'computer' ? { computer: session.poolName } : { pool: session.poolName }),
    phase: sessionPhase(session, worker !== undefined && store.view.agents.get(worker) !== undefined),
    why: whyUnmatched(session),
    command: [...spec.command],
    env_names: Object.keys(spec.env),
    cwd: spec.cwd,
    files: spec.files,
    user: shownUser(spec),
    terminal: spec.terminal !== undefined,
    stdin: spec.stdin,
    priority: spec.priority,
    labels: spec.labels,
    timeout: spec.timeoutMs === undefined ? undefined : formatDuration(spec.timeoutMs),
    grace: formatDuration(spec.graceMs),
    retries: spec.retries,
    accepted_at: toTime(session.acceptedAt),
    by: session.by,
    attempt: session.attempt,
    worker,
    placed_at: toTimeIf(session.placedAt),
    started_at: toTimeIf(session.startedAt),
    kill: kill && { at: toTime(kill.at), by: kill.by, force: kill.force },
    output: output && { bytes: output.bytes, is_cut: output.isCut },
    end: shownEnd(session),
  };
}

export function shownOutput({ seq, attempt, stream, at, data }: OutputChunk): wire.OutputLine {
  return { seq, attempt, stream, at: toTime(at), data: Buffer.from(data).toString('base64') };
}

/** A request body as a session spec. */
export function specOf(sent: z.output<typeof wire.SessionIn | typeof wire.ComputerSessionIn>): SessionSpec {
  return {
    command: sent.command,
    env: sent.env,
    cwd: sent.cwd,
    terminal: sent.terminal,
    stdin: sent.stdin || sent.terminal !== undefined,
    priority: sent.priority,
    labels: sent.labels,
    timeoutMs: sent.timeout,
    graceMs: sent.grace,
    retries: sent.retries,
  };
}
