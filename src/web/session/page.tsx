import { useRef, useState } from 'preact/hooks';
import type { Session } from '../../api/wire/session.ts';
import { useMay } from '../live/session.ts';
import { useAsked } from '../live/use.ts';
import type { PageProps } from '../noun.ts';
import { Copyable } from '../parts/copy.tsx';
import { Facts } from '../parts/facts.tsx';
import { commandText, SessionState } from '../parts/session-rows.tsx';
import { Shown } from '../parts/standing.tsx';
import { Terminal } from '../parts/terminal.tsx';
import { Ago } from '../parts/time.tsx';
import { counted, size } from '../parts/words.ts';
import { poolHref } from '../pool/state.ts';
import { workerHref } from '../worker/rows.tsx';
import { SessionActions, titleOf } from './actions.tsx';
import { Output, sessionPath } from './output.tsx';
import { Timeline } from './timeline.tsx';

const pairs = (of: Readonly<Record<string, string>>) =>
  Object.entries(of).map(([key, value]) => <code key={key}>{`${key}=${value} `}</code>);

function SessionFacts({ session }: { readonly session: Session }) {
  const { pool, computer, worker, kill, files, env_names: names, labels, retries } = session;
  return (
    <Facts
      of={[
        ['Pool', pool !== undefined && <a href={poolHref(pool)}>{pool}</a>],
        ['Computer', computer !== undefined && <a href={`/computers/${encodeURIComponent(computer)}`}>{computer}</a>],
        [
          'Worker',
          worker !== undefined && (
            <a class="mono" href={workerHref(worker)}>
              {worker}
            </a>
          ),
        ],
        ['By', session.by],
        ['Id', session.name !== undefined && <span class="mono">{session.id}</span>],
        ['Waits', session.why],
        ['Message', session.end?.message],
        [
          'Killed',
          kill && (
            <>
              <Ago at={kill.at} /> by {kill.by}
              {kill.force && ', with SIGKILL'}
            </>
          ),
        ],
        ['Directory', session.cwd && <span class="mono">{session.cwd}</span>],
        ['User', session.user],
        ['Variables', names.length > 0 && <span class="mono">{names.join(', ')}</span>],
        ['Labels', Object.keys(labels).length > 0 && pairs(labels)],
        ['Files', files && `${counted(files.count, 'file')}, ${size(files.bytes)}`],
        ['Priority', session.priority !== 0 && String(session.priority)],
        ['Timeout', session.timeout],
        ['Retries', retries > 0 && String(retries)],
        ['Number', session.index !== undefined && `${session.index} of ${session.count}, from 0`],
      ]}
    />
  );
}

/** A terminal while the session has one and this browser may type; what was written, as text, otherwise. */
function Screen({ session }: { readonly session: Session }) {
  const mayAct = useMay('operator');
  // Who has used the terminal keeps it in sight when the session ends.
  const wasLive = useRef(!session.end).current;
  const [isText, setText] = useState(false);
  if (!session.terminal || !wasLive || !mayAct) return <Output session={session} />;
  return (
    <>
      <p class="small">
        <button type="button" onClick={() => setText(!isText)}>
          {isText ? 'Show the terminal' : 'Show what it wrote as text'}
        </button>
      </p>
      {isText ? <Output session={session} /> : <Terminal session={session.id} />}
    </>
  );
}

/** One session: its command, how it went, what it writes. */
export function SessionPage({ params }: PageProps) {
  const id = params.id ?? '';
  const asked = useAsked<Session>(sessionPath(id), { table: 'sessions', idOf: (session: Session) => session.id });
  return (
    <Shown asked={asked}>
      {(session) => (
        <>
          <div class="title">
            <h1>{session.name === undefined ? `Session ${session.id}` : titleOf(session)}</h1>
            <SessionState session={session} />
            {session.kill && !session.end && <span class="quiet">is being ended</span>}
            <span class="space" />
            <SessionActions session={session} />
          </div>
          <Copyable text={commandText(session.command)} label="Command" />
          <Timeline session={session} />
          <SessionFacts session={session} />
          <Screen key={session.id} session={session} />
        </>
      )}
    </Shown>
  );
}
