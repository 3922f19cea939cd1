// What clients of REST clouds have in common: credentials that are renewed, request limits, pages, answers that are kept.
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import { type Ask, type RestOptions, type RestRequest, restClient } from './client.ts';
import { type Keep, openKept } from './kept.ts';
import { openLimits, type RequestLimit } from './limits.ts';
import { inPages } from './retry.ts';
import type { Tokens } from './tokens.ts';

export interface CloudOptions extends Omit<RestOptions, 'fetch' | 'clock' | 'headers'> {
  readonly context: Pick<Context, 'fetch' | 'clock'>;
  /** Shown as a bearer token. Absent where credentials must not be shown: a simulation or an emulator, asked in clear. */
  readonly auth: Tokens<string> | undefined;
  /** The limits of the account: each request counts, every page too. */
  readonly rates: readonly RequestLimit<RestRequest>[];
  /** How many times those limits the account has. */
  readonly factor?: number | undefined;
  /** Beside the token. */
  headers?(): Readonly<Record<string, string>>;
}

export interface CloudListing<Item> extends RestRequest {
  /** What a page holds; nothing where it is no page: somebody else who answers must not look like an empty cloud. */
  items(page: never): readonly Item[] | undefined;
  /** What the request for the next page has in its query, or its full address. */
  next(page: never): Readonly<Record<string, string>> | string | undefined;
}

/** One account of a cloud, asked within its limits. */
export interface CloudClient {
  readonly clock: Clock;
  /** `api.example.com`; the port where it has one. */
  readonly host: string;
  readonly ask: Ask;
  /** Asks a full address that the cloud gave: an operation, the next page. */
  askAt<T>(url: string, signal: AbortSignal): Promise<T>;
  /** Every page of a listing, or throws. */
  all<Item>(listing: CloudListing<Item>, signal: AbortSignal): Promise<Item[]>;
  readonly keep: Keep;
}

export function cloudClient(options: CloudOptions): CloudClient {
  const { context, auth, rates, factor, headers = () => ({}), ...rest } = options;
  const { clock } = context;
  const { host, origin } = new URL(rest.base);
  const within = openLimits(clock, rates, factor);

  function send<T>(request: RestRequest, signal: AbortSignal, shown: { token?: string }): Promise<T> {
    const once = restClient({
      ...rest,
      clock,
      fetch: context.fetch,
      async headers() {
        if (!auth) return headers();
        const token = await auth.get();
        if (token === shown.token) throw new Fault('unauthenticated', `${host} refused the only token that there is.`);
        shown.token = token;
        return { ...headers(), authorization: `Bearer ${token}` };
      },
    });
    return within(request, signal, () => once<T>(request, signal));
  }

  /** A token can be revoked before its end: it is then replaced, once a request. */
  async function ask<T>(request: RestRequest, signal: AbortSignal): Promise<T> {
    const shown: { token?: string } = {};
    try {
      return await send<T>(request, signal, shown);
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind !== 'unauthenticated' || auth === undefined || shown.token === undefined) throw fault;
      auth.refused(shown.token);
      // The first refusal says more than that there is no other token.
      return send<T>(request, signal, shown).catch((again) => {
        throw Fault.from(again).kind === 'unauthenticated' ? fault : again;
      });
    }
  }

  async function askAt<T>(url: string, signal: AbortSignal): Promise<T> {
    const { origin: there, pathname, searchParams } = new URL(url);
    // Our token goes there.
    if (there !== origin) throw new Fault('unavailable', `${host} names an address at ${there}.`);
    const below = new URL(rest.base).pathname.replace(/\/+$/, '');
    if (!pathname.startsWith(below)) throw new Fault('unavailable', `${host} names an address outside of ${below}.`);
    return ask<T>({ path: pathname.slice(below.length), query: Object.fromEntries(searchParams) }, signal);
  }

  async function all<Item>({ items, next, ...request }: CloudListing<Item>, signal: AbortSignal): Promise<Item[]> {
    const found: Item[] = [];
    const read = (token: string | undefined): Promise<unknown> => {
      const more: unknown = token === undefined ? {} : JSON.parse(token);
      if (typeof more === 'string') return askAt(more, signal);
      return ask({ ...request, query: { ...request.query, ...(more as Readonly<Record<string, string>>) } }, signal);
    };
    await inPages(clock, signal, async (token) => {
      const page = (await read(token)) as never;
      const some = typeof page === 'object' && page !== null ? items(page) : undefined;
      if (!some) throw new Fault('unavailable', `${host} answered ${request.path} without a list.`);
      found.push(...some);
      const after = next(page);
      return after === undefined || after === '' ? undefined : JSON.stringify(after);
    });
    return found;
  }

  return { clock, host, ask, askAt, all, keep: openKept(clock) };
}
