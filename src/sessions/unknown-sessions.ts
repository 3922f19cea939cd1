// What an agent runs and is no live session of ours: a copy that should not run, or work of another server, which Muster must not end.
import type { Hello } from '#core/agent-link.ts';
import { type AgentSlots, strayKey } from './agent-slots.ts';
import type { Delivery } from './delivery.ts';
import { commitThen, type SessionsDeps, whenDurable } from './deps.ts';
import type { Finder } from './find.ts';

type Execution = Hello['executions'][number];

const MOST_NAMED = 10;

export interface UnknownSessions {
  /** The agent runs these: those of sessions that we know are killed, all others are left alone and keep their slots. */
  met(agent: string, executions: readonly Execution[]): void;
  /** One of them is over. */
  over(agent: string, execution: Execution): void;
  stop(): void;
}

export interface UnknownSessionParts {
  readonly agentSlots: AgentSlots;
  readonly delivery: Delivery;
  readonly finder: Pick<Finder, 'find'>;
}

export function openUnknownSessions(
  deps: SessionsDeps,
  { agentSlots, delivery, finder }: UnknownSessionParts,
): UnknownSessions {
  const { store, journal, log } = deps;
  const byAgent = new Map<string, Set<string>>();
  // By agent and session: an agent that reconnects is no news.
  const reported = new Set<string>();
  const unsubscribe = store.onChange('agents', (after, before, id) => {
    if (after?.epoch !== before?.epoch) byAgent.delete(id);
  });

  function publish(agent: string): void {
    deps.noteUnknown?.(agent, [...(byAgent.get(agent) ?? [])]);
  }

  function forget(agent: string, session: string): void {
    const sessions = byAgent.get(agent);
    if (!sessions?.delete(session)) return;
    if (sessions.size === 0) byAgent.delete(agent);
    publish(agent);
  }

  function report(agent: string, sessions: readonly string[]): void {
    const news = sessions.filter((session) => !reported.has(`${agent}/${session}`));
    const pool = store.view.workers.get(agent)?.pool;
    if (news.length === 0 || pool === undefined) return;
    for (const session of news) reported.add(`${agent}/${session}`);
    const names = news.slice(0, MOST_NAMED).join(', ') + (news.length > MOST_NAMED ? ' and others' : '');
    const count = news.length === 1 ? 'a session' : `${news.length} sessions`;
    const message = `The agent runs ${count} unknown to this server: ${names}. Muster does not kill them; they keep their slots until they end.`;
    const event = { kind: 'worker.unknown-sessions', subject: `worker/${agent}`, pool, message };
    commitThen(deps, [journal.event(event)]);
  }

  /** Answers those that are nowhere in the store. Where it cannot be read, nothing is known to be ours. */
  async function unknownOf(executions: readonly Execution[]): Promise<readonly string[]> {
    const found = await Promise.all(executions.map(({ session }) => finder.find(session)));
    return executions.flatMap(({ session }, n) => (found[n] ? [] : [session]));
  }

  function settle(agent: string, executions: readonly Execution[], unknown: ReadonlySet<string>): void {
    const still = byAgent.get(agent);
    report(
      agent,
      [...unknown].filter((session) => still?.has(session)),
    );
    for (const { session } of executions) {
      if (unknown.has(session) || !still?.has(session)) continue;
      forget(agent, session);
      delivery.killStray(agent, session);
    }
  }

  return {
    met(agent, executions) {
      for (const { session, attempt } of executions) agentSlots.addStray(agent, strayKey(session, attempt));
      const isLive = ({ session }: Execution): boolean => store.view.sessions.get(session) !== undefined;
      const [copies, others] = [executions.filter(isLive), executions.filter((one) => !isLive(one))];
      // The agent reports their ends like all others, and each report is acknowledged: then it forgets them.
      if (copies.length > 0)
        whenDurable(deps, () => {
          for (const { session } of copies) delivery.killStray(agent, session);
        });
      if (others.length === 0) return;
      byAgent.set(agent, new Set([...(byAgent.get(agent) ?? []), ...others.map(({ session }) => session)]));
      // At once: until we know better, none of them may be ended with its machine.
      publish(agent);
      unknownOf(others).then(
        (unknown) => settle(agent, others, new Set(unknown)),
        (thrown) => log('error', 'cannot look up the sessions of an agent', { agent, error: String(thrown) }),
      );
    },
    over(agent, { session, attempt }) {
      agentSlots.dropStray(agent, strayKey(session, attempt));
      reported.delete(`${agent}/${session}`);
      forget(agent, session);
    },
    stop: unsubscribe,
  };
}
