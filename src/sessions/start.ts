import { startLoop } from '#core/loop.ts';
import type { Session } from '#core/session.ts';
import { openBoard } from './board.ts';
import { openDeadlines } from './deadline.ts';
import { DEFAULT_LIMITS, type SessionsDeps } from './deps.ts';
import { openFinder } from './find.ts';
import { openFollower } from './follow.ts';
import { openInput } from './input.ts';
import { openJoin } from './join.ts';
import { openKill } from './kill.ts';
import { openOfferedLabels } from './offered-labels.ts';
import { startOrphans } from './orphans.ts';
import { openOutput } from './output.ts';
import { place } from './place.ts';
import { openPresence } from './presence.ts';
import { openReport } from './report.ts';
import type { Sessions } from './sessions.ts';
import { openSettle } from './settle.ts';
import { openSubmit } from './submit.ts';
import { openTell } from './tell.ts';
import { withdraw } from './withdraw.ts';

/** Takes up all live sessions where the store has them, and goes on. */
export function startSessions(deps: SessionsDeps): Sessions {
  const { store, clock, wake } = deps;
  let isStopping = false;
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const presence = openPresence({ store, clock, changed: (agent) => board.reseat(agent) });
  const board = openBoard({ store, seat: presence.seat, changed: (pool) => loop.poke(pool) });
  const tell = openTell(deps, presence);
  const output = openOutput(deps, { tell, limits });
  const finder = openFinder(store);
  const follower = openFollower(store, finder);
  const settle = openSettle(deps, { outputMark: output.mark, attemptOver, ended: finder.noteEnded, changed });
  const deadlines = openDeadlines(deps, { presence, tell, settle });
  const orphans = startOrphans(deps, { settle, tell });
  const labels = openOfferedLabels(deps, changed);
  const parts = { labels, board, presence, tell, output, finder, settle, deadlines, orphans, limits, changed };
  const loop = startLoop({ ...deps, name: 'placing', reconcile });

  function reconcile(pool: string) {
    const row = store.view.pools.get(pool);
    return row && !row.removal ? place(deps, parts, pool) : withdraw(deps, settle, pool);
  }

  /** Places at once, so that what a report frees or a caller asks for is durable in the same batch. */
  function changed(pool: string): void {
    if (isStopping) return;
    if (place(deps, parts, pool)) loop.poke(pool);
    wake(pool);
  }

  function attemptOver({ id }: Session): void {
    tell.forget(id);
    output.forget(id);
    deadlines.forget(id);
  }

  const subscriptions = [
    store.onChange('agents', (after, _before, id) => {
      if (!after) presence.forget(id);
    }),
    store.onChange('freezes', (after) => {
      if (!after) pokeAll();
    }),
  ];

  function pokeAll(): void {
    for (const pool of board.pools()) loop.poke(pool);
  }
  pokeAll();

  return {
    submit: openSubmit(deps, parts),
    kill: openKill(deps, parts),
    find: finder.find,
    ended: finder.ended,
    output: follower.output,
    ...openInput(deps),
    agentJoined: openJoin(deps, parts),
    report: openReport(deps, parts),
    async stop() {
      isStopping = true;
      for (const unsubscribe of subscriptions) unsubscribe();
      board.stop();
      presence.stop();
      deadlines.stop();
      await Promise.all([loop.stop(), labels.stop(), orphans.stop()]);
      finder.stop();
      follower.stop();
    },
  };
}
