import type { Why } from '../api/wire/pool.ts';
import type { Session } from '../api/wire/session.ts';
import type { Client } from './client.ts';
import type { Cli } from './command.ts';
import { sessionPath } from './follow.ts';
import { oneLine } from './table.ts';
import { isInteractive, openProgress, type ProgressLine, sizeOf } from './terminal.ts';

const ASK_EVERY_MS = 1_000;
const ROOM_FOR_SECONDS = 10;

/** Why a session does not run yet; undefined if it runs. */
async function whyWaiting(client: Client, { id, pool }: Session): Promise<string | undefined> {
  const { phase, labels, why: unmatched } = await client.call<Session>(sessionPath(id));
  if (phase !== 'queued') return undefined;
  if (unmatched !== undefined) return oneLine(unmatched);
  const asked = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const why = await client.call<Why>(`/pools/${encodeURIComponent(pool)}/why`, { query: { limit: 1 } });
  const reason = why.frozen ? `frozen, ${why.frozen.why}` : why.decisions[0]?.why;
  const wanted = `waiting for a worker in pool ${pool}${asked.length > 0 ? ` with ${asked.join(', ')}` : ''}`;
  return oneLine(reason === undefined ? wanted : `${wanted}: ${reason}`);
}

/** Tells people on a terminal what a session waits for, until it runs. */
export function openWaiting(cli: Cli, client: Client, session: Session): ProgressLine {
  const { terminal } = cli;
  let text: string | undefined;
  const progress = openProgress(terminal, () => text?.slice(0, sizeOf(terminal).columns - ROOM_FOR_SECONDS));
  let cancel = (): void => {};
  const stop = (): void => {
    cancel();
    progress.stop();
  };
  const ask = (): void => {
    whyWaiting(client, session).then(
      (said) => {
        if (said === undefined) return stop();
        text = said;
        cancel = terminal.clock.alarm(ASK_EVERY_MS, ask);
      },
      // The follower of the session reports errors of the server.
      stop,
    );
  };
  if (isInteractive(terminal.errors)) cancel = terminal.clock.alarm(ASK_EVERY_MS, ask);
  return { hide: progress.hide, stop };
}
