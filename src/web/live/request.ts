import type { HttpProblem } from '../../api/wire/problem.ts';
import type { Connection } from './connection.ts';

/** What a request came to: a value, or the problem that the server names. */
export type Answer<T> =
  | { readonly value: T; readonly problem?: undefined }
  | { readonly value?: undefined; readonly problem: HttpProblem };

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly body?: unknown;
  /** The server carries out requests with the same key once. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** Asks the API below `/api/v1`. It never throws. */
export type Ask = <T>(path: string, options?: RequestOptions) => Promise<Answer<T>>;

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export const API = '/api/v1';

const UNREACHABLE: HttpProblem = {
  type: 'urn:muster:fault:unavailable',
  title: 'Service Unavailable',
  status: 503,
  detail: 'The server does not answer.',
  kind: 'unavailable',
  remedy: 'This page asks again by itself.',
};

// What a proxy in front of the server answers while the server is away.
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

/** Tells the connection what a status says of it. */
export function noteStatus(status: number, connection: Connection): void {
  if (status === 401) connection.refused();
  else if (AWAY.has(status)) connection.failed();
  else connection.answered();
}

/** What the server says of a request that it did not carry out. */
export async function problemIn(response: Response): Promise<HttpProblem> {
  const { status, statusText } = response;
  const read = (await response.json().catch(() => undefined)) as HttpProblem | undefined;
  if (typeof read?.detail === 'string') return read;
  return { ...UNREACHABLE, status, title: statusText, detail: `The server answered ${status} ${statusText}.` };
}

export function openRequests(fetch: Fetch, connection: Connection): Ask {
  return async <T>(
    path: string,
    { method = 'GET', body, idempotencyKey, signal }: RequestOptions = {},
  ): Promise<Answer<T>> => {
    const init: RequestInit = { method, credentials: 'same-origin' };
    if (signal) init.signal = signal;
    if (body !== undefined) {
      init.headers = {
        'content-type': 'application/json',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      };
      init.body = JSON.stringify(body);
    }
    try {
      const response = await fetch(API + path, init);
      noteStatus(response.status, connection);
      if (!response.ok) return { problem: await problemIn(response) };
      return { value: (response.status === 204 ? undefined : await response.json()) as T };
    } catch {
      if (!signal?.aborted) connection.failed();
      return { problem: UNREACHABLE };
    }
  };
}
