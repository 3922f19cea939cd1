import { useLocation } from 'preact-iso/router';
import type { PoolList } from '../../api/wire/pool.ts';
import type { Session } from '../../api/wire/session.ts';
import { useMay, useMe } from '../live/session.ts';
import { useAsked } from '../live/use.ts';
import { Empty, Loading, Shown } from '../parts/standing.tsx';
import { draftOf, leftOut, NO_DRAFT } from './draft.ts';
import { SessionForm } from './form.tsx';
import { sessionPath } from './output.tsx';

const POOLS = '/pools?limit=500';

/** The empty form, for one who has a pool to run in. */
function EmptyForm({ pools, pool }: { readonly pools: PoolList; readonly pool: string }) {
  if (pools.items.length === 0)
    return (
      <Empty command="muster run -- echo hello">
        No pool that could run it. The command makes a pool on its own machine; a source defines others.
      </Empty>
    );
  return <SessionForm first={{ ...NO_DRAFT, pool }} notes={[]} pools={pools} />;
}

/** The form filled in with what a session was. */
function FilledForm({ pools, again }: { readonly pools: PoolList; readonly again: string }) {
  const asked = useAsked<Session>(sessionPath(again));
  return (
    <Shown asked={asked}>
      {(before) => <SessionForm first={draftOf(before)} notes={leftOut(before)} pools={pools} />}
    </Shown>
  );
}

/** The form for a new session; `pool` fills in the pool, `again` all that a session was. */
export function NewSessionPage() {
  const me = useMe();
  const mayAct = useMay('operator');
  const { pool = '', again } = useLocation().query;
  const pools = useAsked<PoolList>(POOLS);
  return (
    <>
      <h1>New session</h1>
      <Shown asked={pools}>
        {(list) => {
          if (!me) return <Loading />;
          if (!mayAct)
            return (
              <Empty>
                Your role may not start sessions: that needs the role operator, and {me.name} is {me.role}.
              </Empty>
            );
          return again === undefined ? (
            <EmptyForm pools={list} pool={pool} />
          ) : (
            <FilledForm pools={list} again={again} />
          );
        }}
      </Shown>
    </>
  );
}
