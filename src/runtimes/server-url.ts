// Checks `runtimes.server_url` from the server's own machine: the name resolves and /healthz answers. Only the operator can
// check the path from the cluster; the guide says how.
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { startLoop } from '#core/loop.ts';
import type { Context } from '#core/provider.ts';
import type { Random } from '#core/random.ts';
import type { Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import { isStatic, type RuntimeSettings } from './section.ts';

export interface ServerUrlDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Journal;
  readonly context: Pick<Context, 'fetch' | 'clock'>;
  settings(): RuntimeSettings;
}

const ANSWER_WITHIN_MS = 5_000;
const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)$/;

/** What is wrong with the name itself; undefined: it may be reached from elsewhere. */
export function onlyHere(url: string): string | undefined {
  const { hostname } = new URL(url);
  if (!LOOPBACK.test(hostname)) return undefined;
  return `Runtimes in a cluster cannot reach ${hostname}: it means their own machine there.`;
}

async function answerOf(url: string, { fetch, clock }: ServerUrlDeps['context']): Promise<string | undefined> {
  const address = `${url.replace(/\/$/, '')}/healthz`;
  const giveUp = new AbortController();
  const cancel = clock.alarm(ANSWER_WITHIN_MS, () => giveUp.abort());
  try {
    const answer = await fetch(address, { redirect: 'manual', signal: giveUp.signal });
    await answer.body?.cancel();
    return answer.ok ? undefined : `GET ${address} answered ${answer.status}.`;
  } catch (thrown) {
    const { message, cause } = thrown as Error;
    return `GET ${address} failed: ${cause instanceof Error ? cause.message : message}.`;
  } finally {
    cancel();
  }
}

/** Looks at start, after a reload and at each check; a new answer is an event. */
export function startServerUrlCheck(deps: ServerUrlDeps): { look(): void; stop(): void } {
  const { store, log, journal, settings } = deps;
  let last: string | undefined;

  async function check(): Promise<{ readonly afterMs: number } | undefined> {
    const { serverUrl, provisioners, checkInterval } = settings();
    if (serverUrl === undefined || Object.values(provisioners).every(isStatic)) return undefined;
    const wrong = onlyHere(serverUrl) ?? (await answerOf(serverUrl, deps.context));
    const said = wrong ?? '';
    if (said !== (last ?? '')) {
      const message = wrong ?? `The server address for runtimes, ${serverUrl}, is reachable.`;
      log(wrong === undefined ? 'info' : 'warn', 'address of the server for runtimes', {
        url: serverUrl,
        why: message,
      });
      await store.commit([journal.event({ kind: 'runtime.server-url', subject: 'server', message })]);
    }
    last = said;
    return { afterMs: checkInterval };
  }

  const loop = startLoop({ name: 'runtime-server-url', ...deps, reconcile: check });
  return { look: () => loop.poke('server'), stop: () => void loop.stop() };
}
