import type { Context } from '#core/provider.ts';

const PING_WITHIN_MS = 5_000;

/** Asks a runtime whether it serves; answers what went wrong, or nothing where it does. */
export async function ping(
  { fetchWith, clock, ...context }: Pick<Context, 'fetch' | 'fetchWith' | 'clock'>,
  host: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const url = new URL(`${host.replace(/\/$/, '')}/v1/ping`);
  const fetch = fetchWith?.({}) ?? context.fetch;
  const giveUp = new AbortController();
  const cancel = clock.alarm(PING_WITHIN_MS, () => giveUp.abort());
  try {
    // A redirect leads to a log-in page or to another runtime: neither says that this one is ready.
    const ending = AbortSignal.any([signal, giveUp.signal]);
    const answer = await fetch(url.href, { redirect: 'manual', signal: ending });
    await answer.body?.cancel();
    return answer.status >= 200 && answer.status < 300 ? undefined : `GET ${url} answered ${answer.status}.`;
  } catch (thrown) {
    if (giveUp.signal.aborted) return `GET ${url} gave no answer within ${PING_WITHIN_MS / 1_000} seconds.`;
    const { message, cause } = thrown as Error;
    return `GET ${url} failed: ${cause instanceof Error ? cause.message : message}.`;
  } finally {
    cancel();
  }
}
