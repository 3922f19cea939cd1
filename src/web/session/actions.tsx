import type { Session } from '../../api/wire/session.ts';
import { useMay } from '../live/session.ts';
import { useLive } from '../live/use.ts';
import { Action } from '../parts/action.tsx';
import { commandText } from '../parts/session-rows.tsx';
import { sessionPath } from './output.tsx';

/** The form for a new session, with what that one was. */
export const againHref = (id: string): string => `/sessions/new?${new URLSearchParams({ again: id })}`;

const LONGEST_NAME = 60;

/** What a session is called in a sentence or a title. */
export function titleOf({ name, index, command }: Session): string {
  if (name !== undefined) return index === undefined ? name : `${name}/${index}`;
  const text = commandText(command);
  return text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME - 1)}…` : text;
}

/** What one can do with a session. */
export function SessionActions({ session }: { readonly session: Session }) {
  const live = useLive();
  const mayAct = useMay('operator');
  const { id, end, worker, kill, grace } = session;
  const path = sessionPath(id);
  const done = (): void => void live.refresh(path);
  const post = (force: boolean) => () => live.ask(`${path}/kill`, { method: 'POST', body: { force } });
  const onWorker = worker === undefined ? '' : ` on ${worker}`;
  if (!mayAct) return null;
  return (
    <div class="buttons">
      {!end && !kill && (
        <Action
          label="Cancel"
          isDestructive
          confirm={{
            question: `Cancel session ${titleOf(session)}?`,
            act: 'Cancel the session',
            detail:
              worker === undefined
                ? 'It waits in the queue and will never start.'
                : `Its processes${onWorker} get SIGTERM, and SIGKILL after ${grace}.`,
          }}
          run={post(false)}
          done={done}
        />
      )}
      {!end && worker !== undefined && !kill?.force && (
        <Action
          label="Kill"
          isDestructive
          confirm={{
            question: `Kill session ${titleOf(session)}?`,
            act: 'Kill the session',
            detail: `Its processes${onWorker} get SIGKILL at once: they can save nothing.`,
          }}
          run={post(true)}
          done={done}
        />
      )}
      <a class="button" href={againHref(id)}>
        Run again
      </a>
    </div>
  );
}
