import { useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { PoolList } from '../../api/wire/pool.ts';
import type { HttpProblem } from '../../api/wire/problem.ts';
import type { Session } from '../../api/wire/session.ts';
import { useLive } from '../live/use.ts';
import { TextField } from '../parts/field.tsx';
import { sessionHref } from '../parts/session-rows.tsx';
import { Trouble } from '../parts/standing.tsx';
import { type Draft, type Faults, readDraft } from './draft.ts';

/** Names the request: the same draft sent again after a lost answer starts nothing twice. */
function useIdempotencyKey(): (body: unknown) => string {
  const last = useRef<{ readonly text: string; readonly key: string }>();
  return (body) => {
    const text = JSON.stringify(body);
    if (last.current?.text !== text) {
      const random = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
        byte.toString(16).padStart(2, '0'),
      );
      last.current = { text, key: `dashboard-${random.join('')}` };
    }
    return last.current.key;
  };
}

type TextKey = { [K in keyof Draft]: Draft[K] extends string ? K : never }[keyof Draft];

interface MoreField {
  readonly key: TextKey;
  readonly title: string;
  readonly note: string;
  readonly rows?: number;
}

const MORE_FIELDS: readonly MoreField[] = [
  { key: 'name', title: 'Name', note: 'Stands for the id.' },
  { key: 'cwd', title: 'Working directory', note: 'An absolute path of the worker.' },
  { key: 'timeout', title: 'Timeout', note: 'Such as 90s or 2h; none by default.' },
  { key: 'grace', title: 'Grace', note: 'Between SIGTERM and SIGKILL; 10s by default.' },
  { key: 'priority', title: 'Priority', note: 'Lower goes first; 0 by default.' },
  { key: 'retries', title: 'Retries', note: 'How often it starts again after its machine was lost; 0 by default.' },
  { key: 'env', title: 'Variables', note: 'NAME=value, one a line. Their values are never shown again.', rows: 3 },
  {
    key: 'labels',
    title: 'Labels',
    note: 'name=value, one a line: only agents that have all of them run it.',
    rows: 3,
  },
];

const MOST_ROWS = 12;
const LETTERS_A_ROW = 80;
const rowsFor = (text: string): number =>
  Math.min(
    MOST_ROWS,
    1 + text.split('\n').reduce((rows, line) => rows + Math.ceil((line.length + 1) / LETTERS_A_ROW), 0),
  );

interface FormProps {
  readonly first: Draft;
  readonly notes: readonly string[];
  readonly pools: PoolList;
}

/** What a new session is made from; a wrong field says so before the server is asked. */
export function SessionForm({ first, notes, pools }: FormProps) {
  const live = useLive();
  const { route } = useLocation();
  const keyFor = useIdempotencyKey();
  const [draft, setDraft] = useState(first);
  const [faults, setFaults] = useState<Faults>({});
  const [problem, setProblem] = useState<HttpProblem>();
  const [isSending, setSending] = useState(false);
  const set = (more: Partial<Draft>): void => setDraft((before) => ({ ...before, ...more }));
  async function send(): Promise<void> {
    const read = readDraft(draft);
    setProblem(undefined);
    setFaults(read.faults ?? {});
    if (read.faults) return;
    setSending(true);
    const { path, body } = read;
    const answer = await live.ask<Session>(path, { method: 'POST', body, idempotencyKey: keyFor(body) });
    setSending(false);
    setProblem(answer.problem);
    if (answer.value) route(sessionHref(answer.value.id));
  }
  const isMoreOpen = MORE_FIELDS.some(({ key }) => first[key] !== '');
  return (
    <form
      class="new-session"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {notes.length > 0 && (
        <div class="standing">
          <p>Not taken over from that session:</p>
          <ul>
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </div>
      )}
      {draft.computer !== '' ? (
        <p>
          On the computer <strong>{draft.computer}</strong>
        </p>
      ) : (
        <TextField
          title="Pool"
          value={draft.pool}
          placeholder="the only pool, or local"
          choices={pools.items.map(({ name }) => name)}
          set={(pool) => set({ pool })}
        />
      )}
      <TextField
        title="Command"
        value={draft.command}
        rows={rowsFor(draft.command)}
        fault={faults.command}
        set={(command) => set({ command })}
        enter={() => void send()}
      />
      <label class="flag">
        <input
          type="checkbox"
          checked={draft.isShell}
          onChange={(event) => set({ isShell: event.currentTarget.checked })}
        />
        <span>
          In a shell: <code>|</code>, <code>&amp;&amp;</code> and <code>$NAME</code> have their meaning there
        </span>
      </label>
      <label class="flag">
        <input
          type="checkbox"
          checked={draft.hasTerminal}
          onChange={(event) => set({ hasTerminal: event.currentTarget.checked })}
        />
        <span>With a terminal to type in</span>
      </label>
      <details open={isMoreOpen}>
        <summary>More</summary>
        <div class="fields">
          {MORE_FIELDS.map(({ key, ...field }) => (
            <TextField
              key={key}
              {...field}
              value={draft[key]}
              fault={faults[key]}
              set={(text) => set({ [key]: text })}
            />
          ))}
        </div>
      </details>
      {problem && <Trouble problem={problem} />}
      <div class="buttons">
        <button type="submit" class="primary" disabled={isSending}>
          Run
        </button>
      </div>
    </form>
  );
}
