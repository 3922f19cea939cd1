// Sessions that this command has started and follows: output, end, and Ctrl-C.
import { Fault } from '#core/fault.ts';
import type { Session } from '../api/wire/session.ts';
import { attachSession } from './attach.ts';
import type { Client } from './client.ts';
import type { Cli } from './command.ts';
import { followSession, sayEnd, sessionPath, type Write } from './follow.ts';
import { inTurns } from './in-turns.ts';
import { writeLines, writeThrough } from './output.ts';
import { patiently } from './patience.ts';
import { openProgress, type ProgressLine, remark } from './terminal.ts';
import { openWaiting } from './waiting.ts';

// Each followed session needs a connection, and a process has about a thousand file descriptors.
const MOST_AT_ONCE = 100;
const INTERRUPTED = 130;

/** Ends sessions; retries while the server is unreachable for a short time. */
export async function kill(cli: Cli, client: Client, ids: readonly string[], force: boolean): Promise<void> {
  let failed: Fault | undefined;
  await inTurns(ids, MOST_AT_ONCE, async (id) => {
    const ask = () => client.call(`${sessionPath(id)}/kill`, { method: 'POST', body: { force } });
    await patiently(cli, ask).catch((thrown) => {
      failed = Fault.from(thrown);
    });
  });
  if (failed) remark(cli.terminal, `cannot end the session: ${failed.message}`);
}

const named = (ids: readonly string[]): string => (ids.length === 1 ? `session ${ids[0]}` : `${ids.length} sessions`);

/** Ctrl-C ends the sessions, not only this command: first SIGTERM, then SIGKILL; the third time we leave. */
function killOnInterrupt(cli: Cli, client: Client, live: () => readonly string[]): { left: AbortSignal; stop(): void } {
  const left = new AbortController();
  let times = 0;
  const stop = cli.onInterrupt(() => {
    times += 1;
    const ids = live();
    if (times > 2) {
      remark(cli.terminal, `exiting; ${named(ids)} may still run`);
      cli.exitWith(INTERRUPTED);
      return left.abort();
    }
    const again = times === 1 ? 'again sends SIGKILL' : 'again exits and leaves it running';
    cli.terminal.errors.write('\n');
    remark(cli.terminal, `ending ${named(ids)} (Ctrl-C ${again})`);
    void kill(cli, client, ids, times > 1);
  });
  return { left: left.signal, stop };
}

/**
 * Follows sessions until they have ended, and exits with their exit code. If the output is closed, as by
 * `| head`, they are ended too: a command is expected to end with its pipe.
 */
async function stay(
  cli: Cli,
  client: Client,
  { sessions, watch }: { sessions: readonly Session[]; watch(cli: Cli, session: Session, n: number): Promise<Session> },
): Promise<void> {
  const live = new Set(sessions.map(({ id }) => id));
  const { left, stop } = killOnInterrupt(cli, client, () => [...live]);
  const inner: Cli = { ...cli, signal: AbortSignal.any([cli.signal, left]) };
  try {
    const ended = await inTurns(sessions, MOST_AT_ONCE, async (session, n) => {
      const result = await watch(inner, session, n);
      live.delete(session.id);
      return result;
    });
    finish(cli, ended);
  } catch (thrown) {
    if (!left.aborted) throw thrown;
  } finally {
    if (cli.signal.aborted) await kill(cli, client, [...live], false);
    stop();
  }
}

/** The first exit code that is not 0 is ours; of many that ended alike, one line is enough. */
function finish(cli: Cli, sessions: readonly Session[]): void {
  const unusual = Map.groupBy(sessions, sayEnd);
  for (const [said, alike] of unusual) {
    if (said !== undefined) remark(cli.terminal, `${named(alike.map(({ id }) => id))}: ${said}`);
  }
  cli.exitWith(sessions.map(({ end }) => end?.exit_code ?? 1).find((code) => code !== 0) ?? 0);
}

function writing({ terminal }: Cli, progress: ProgressLine, prefix: string | undefined) {
  if (prefix === undefined) {
    const write = writeThrough(terminal);
    const first: Write = (line) => {
      progress.stop();
      write(line);
    };
    return { write: first, end() {} };
  }
  const lines = writeLines(terminal, () => prefix);
  const hiding = <A extends unknown[]>(act: (...args: A) => void) => {
    return (...args: A): void => {
      progress.hide();
      act(...args);
    };
  };
  return { write: hiding(lines.write), end: hiding(lines.end) };
}

/** Shows the output of sessions until they have ended; with several, each line begins with the number of its session. */
export async function runSessions(cli: Cli, client: Client, sessions: readonly Session[]): Promise<void> {
  const [first] = sessions;
  if (!first) return;
  let ended = 0;
  const isOne = sessions.length === 1;
  const counting = isOne
    ? undefined
    : openProgress(cli.terminal, () => `${ended} of ${sessions.length} sessions have ended`);
  const progress = openWaiting(cli, client, first, { said: first.why, ...(counting && { progress: counting }) });
  try {
    await stay(cli, client, {
      sessions,
      async watch(inner, { id }, n) {
        const { write, end } = writing(inner, progress, isOne ? undefined : `[${n}] `);
        const session = await followSession(inner, client, { id, write });
        end();
        ended += 1;
        progress.hide();
        return session;
      },
    });
  } finally {
    progress.stop();
  }
}

/** Joins our terminal or our input with a session until it has ended. */
export async function runAttached(cli: Cli, client: Client, session: Session): Promise<void> {
  const progress = openWaiting(cli, client, session, { said: session.why });
  try {
    await stay(cli, client, {
      sessions: [session],
      watch: (inner) => attachSession(inner, client, { session, begun: progress.stop }),
    });
  } finally {
    progress.stop();
  }
}
