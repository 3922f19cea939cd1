import type { Clock } from '#core/clock.ts';
import { type RestOptions, type RestRequest, restClient } from './client.ts';

interface Question extends Omit<RestRequest, 'path'> {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly withinMs?: number;
  readonly explain?: RestOptions['explain'];
}

/** One question to a full address, as these stand in files of credentials and in links to the next page. */
export function askAt<T>(
  { fetch, clock }: { readonly fetch: typeof globalThis.fetch; readonly clock: Clock },
  question: Question,
  signal: AbortSignal,
): Promise<T> {
  const { url, headers = {}, withinMs, explain, ...request } = question;
  const { origin, host, pathname, searchParams } = new URL(url);
  const ask = restClient({
    fetch,
    clock,
    base: origin,
    cloud: host,
    headers: async () => headers,
    ...(withinMs !== undefined && { withinMs }),
    ...(explain && { explain }),
  });
  const query = { ...Object.fromEntries(searchParams), ...request.query };
  return ask<T>({ ...request, path: pathname, query }, signal);
}
