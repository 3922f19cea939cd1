import type { Token } from '../../api/wire/token.ts';
import { useList } from '../live/list.ts';
import { useLive } from '../live/use.ts';
import { Action } from '../parts/action.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { Empty } from '../parts/standing.tsx';
import { State } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';

const idOf = ({ id }: Token): string => id;

const columns = (done: () => void): readonly Column<Token>[] => [
  { title: 'Name', show: ({ name }) => name },
  { title: 'For', width: 10, show: ({ role, join }) => role ?? `agents of ${join}` },
  { title: 'By', width: 12, rank: 3, show: ({ created_by: by }) => by },
  { title: 'Created', width: 7, rank: 2, isNumber: true, show: ({ created_at: at }) => <Ago at={at} /> },
  {
    title: 'Expires',
    width: 7,
    rank: 2,
    isNumber: true,
    show: ({ expires_at: at, expired }) => (expired ? <State word="expired" /> : at ? <Ago at={at} /> : 'never'),
  },
  { title: '', width: 6, isNumber: true, show: (token) => <Revoke token={token} done={done} /> },
];

function Revoke({ token: { id, name }, done }: { readonly token: Token; readonly done: () => void }) {
  const live = useLive();
  return (
    <Action
      label="Revoke"
      needs="admin"
      isDestructive
      confirm={{
        question: `Revoke token ${name}?`,
        detail:
          'Its users are refused from then on, browsers that logged in with it too; their streams and terminals end.',
      }}
      run={() => live.ask(`/tokens/${encodeURIComponent(id)}`, { method: 'DELETE' })}
      done={done}
    />
  );
}

/** All tokens but their texts, which the server does not have. */
export function Tokens() {
  const list = useList<Token>({ path: '/tokens', idOf });
  return (
    <section aria-label="Tokens">
      <h2>Tokens</h2>
      <p class="quiet">
        <code>muster token create NAME --role viewer</code> makes another one.
      </p>
      <Rows
        label="Tokens"
        list={list}
        columns={columns(() => void list.refresh())}
        idOf={idOf}
        empty={<Empty command="muster token create NAME --role viewer">No tokens.</Empty>}
      />
    </section>
  );
}
