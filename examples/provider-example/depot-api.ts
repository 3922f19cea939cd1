import { Fault, type FaultKind } from 'muster/src/core/fault.ts';
import type { Context } from 'muster/src/core/provider.ts';

/** The depot's own words for what went wrong. */
const KINDS: Readonly<Record<string, FaultKind>> = {
  unknown_token: 'unauthenticated',
  not_allowed: 'denied',
  not_found: 'missing',
  out_of_stock: 'exhausted',
  over_limit: 'quota',
  too_fast: 'throttled',
};

export interface Question {
  readonly method?: 'GET' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly signal: AbortSignal;
}

export type Ask = (question: Question) => Promise<unknown>;

/** What is to be done about it; a word that is new to us is judged by the status it came with. */
export const kindOf = (word: string, status = 500): FaultKind =>
  KINDS[word] ?? (status >= 500 ? 'unavailable' : 'invalid');

function faultOf(url: string, status: number, { error = '' }: { readonly error?: string }): Fault {
  return new Fault(kindOf(error, status), `${url} answered ${status} ${error}.`);
}

/** Asks the depot; whatever goes wrong comes out as a fault. */
export function depotAt({ url, token }: { url: string; token?: string | undefined }, { fetch }: Context): Ask {
  return async ({ method = 'GET', path, body, signal }) => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    try {
      const reply = await fetch(new URL(path, url), { method, headers, signal, ...sent });
      const answer: unknown = JSON.parse((await reply.text()) || '{}');
      if (!reply.ok) throw faultOf(url, reply.status, answer as { error?: string });
      return answer;
    } catch (thrown) {
      if (thrown instanceof Fault) throw thrown;
      // No answer, or none that can be read: it is unknown what the depot did.
      throw new Fault('unavailable', `${url} did not answer ${method} ${path}.`, { cause: thrown });
    }
  };
}

/** Every page of a listing, or a fault. */
export async function everyPage<T>(ask: Ask, path: string, signal: AbortSignal): Promise<T[]> {
  const all: T[] = [];
  for (let page: string | undefined = path; page !== undefined; ) {
    const { items, next } = (await ask({ path: page, signal })) as { items: T[]; next?: string };
    all.push(...items);
    page = next;
  }
  return all;
}
