// A client of the HTTP API for programs in TypeScript: `@muster/muster/client`.
import createFetchClient, { type Client } from 'openapi-fetch';
import type { Paths } from './api.gen.ts';

export type { Paths, Schemas } from './api.gen.ts';

export interface MusterClientOptions {
  /** Address of the server, as `https://muster.example:8081`. */
  readonly address: string;
  /** A token of that server. Without one, only what needs no token answers. */
  readonly token?: string | undefined;
  /** What sends the requests; the global `fetch` unless given. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

/** `GET`, `POST`, `PUT` and `DELETE` by path; each resolves to `data`, or to `error` (a Problem), and to `response`. */
export type MusterClient = Client<Paths>;

/** The token goes to the address alone: the client follows no redirect. */
export function createMusterClient({ address, token, fetch }: MusterClientOptions): MusterClient {
  return createFetchClient<Paths>({
    baseUrl: address,
    redirect: 'manual',
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    ...(fetch === undefined ? {} : { fetch }),
  });
}
