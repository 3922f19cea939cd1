import type { Computer } from '../api/wire/computer.ts';
import type { Why } from '../api/wire/pool.ts';
import type { Session } from '../api/wire/session.ts';
import type { Client } from './client.ts';
import type { Cli } from './command.ts';
import { sessionPath } from './follow.ts';
import { oneLine } from './table.ts';
import { isInteractive, openProgress, type ProgressLine, remark, sizeOf } from './terminal.ts';

const ASK_EVERY_MS = 1_000;
const ROOM_FOR_SECONDS = 10;
// No one watches a clock there.
const ASK_WITHOUT_TERMINAL_MS = 5_000;

interface Wait {
  /** The cause and, where there is one, the remedy. */
  readonly why: string;
  /** In a few words, so that it fits a line. */
  readonly what: string;
}

/** A cause that a person can remove goes before the plan of the pool. */
function causeIn({ frozen, trouble, counts, starting, decisions }: Why): string | undefined {
  if (frozen) return `The pool is frozen: ${frozen.why.replace(/\.$/, '')}. To thaw it, run \`${frozen.thaw}\`.`;
  if (trouble !== undefined) return trouble;
  const [oldest] = starting;
  if (oldest) return `${counts.queued} queued, ${counts.idle} idle, ${counts.starting} starting: ${oldest.waits}`;
  return decisions[0]?.why;
}

async function waitForComputer(client: Client, name: string): Promise<Wait> {
  const { why } = await client.call<Computer>(`/computers/${encodeURIComponent(name)}`);
  const what = `waiting for computer ${name}`;
  return { what, why: why === undefined ? what : `${oneLine(why)} (${what})` };
}

/** Why a session does not run yet; undefined if it runs. */
async function waitOf(client: Client, { id, pool, computer }: Session): Promise<Wait | undefined> {
  const { phase, labels, why: unmatched } = await client.call<Session>(sessionPath(id));
  if (phase !== 'queued') return undefined;
  if (pool === undefined) return waitForComputer(client, computer ?? '');
  const asked = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const what = oneLine(`waiting for a worker in pool ${pool}${asked.length > 0 ? ` with ${asked.join(', ')}` : ''}`);
  if (unmatched !== undefined) return { what, why: oneLine(unmatched) };
  const why = await client.call<Why>(`/pools/${encodeURIComponent(pool)}/why`, { query: { limit: 1 } });
  const cause = causeIn(why);
  return { what, why: cause === undefined ? what : `${oneLine(cause)} (${what})` };
}

/** Figures change every second; the cause is the same. */
const causeKey = (why: string): string => why.replace(/\d+/g, '0');

export interface WaitingOptions {
  /** The line that a terminal shows meanwhile; without one it is of the wait. */
  readonly progress?: ProgressLine;
  /** Has been said already. */
  readonly said?: string | undefined;
}

/**
 * Says what a session waits for, once for each cause, in a line of its own that no terminal cuts; on a terminal a short
 * line counts the seconds below it. Ends when the session runs.
 */
export function openWaiting(cli: Cli, client: Client, session: Session, options: WaitingOptions = {}): ProgressLine {
  const { terminal } = cli;
  let what: string | undefined;
  let lastKey = options.said === undefined ? undefined : causeKey(oneLine(options.said));
  const progress =
    options.progress ?? openProgress(terminal, () => what?.slice(0, sizeOf(terminal).columns - ROOM_FOR_SECONDS));
  const everyMs = isInteractive(terminal.errors) ? ASK_EVERY_MS : ASK_WITHOUT_TERMINAL_MS;
  let isOver = false;
  let cancel = (): void => {};
  const stopAsking = (): void => {
    isOver = true;
    cancel();
  };
  const stop = (): void => {
    stopAsking();
    progress.stop();
  };
  const say = (wait: Wait): void => {
    what = wait.what;
    if (causeKey(wait.why) === lastKey) return;
    lastKey = causeKey(wait.why);
    progress.hide();
    remark(terminal, wait.why);
  };
  const ask = (): void => {
    waitOf(client, session).then(
      (wait) => {
        if (isOver) return;
        if (wait === undefined) return options.progress ? stopAsking() : stop();
        say(wait);
        cancel = terminal.clock.alarm(everyMs, ask);
      },
      // The follower of the session reports errors of the server.
      options.progress ? stopAsking : stop,
    );
  };
  cancel = terminal.clock.alarm(ASK_EVERY_MS, ask);
  return { hide: progress.hide, stop };
}
