/** A request that is known whole before it leaves. */
export interface WholeRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
}

export interface WholeAnswer {
  readonly status: number;
  /** By names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** One request and its whole answer, whatever its status; redirects are answers like others. */
export type Exchange = (request: WholeRequest, signal: AbortSignal) => Promise<WholeAnswer>;

// `fetch` sets these itself, and refuses others.
const OWN_HEADERS = new Set(['host', 'content-length']);

/** Exchanges by a `fetch`. */
export function exchangeBy(fetchFrom: typeof fetch): Exchange {
  return async ({ url, method, headers, body }, signal) => {
    const response = await fetchFrom(url, {
      method,
      headers: Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name.toLowerCase())),
      redirect: 'manual',
      signal,
      ...(body === undefined || method === 'GET' || method === 'HEAD' ? {} : { body }),
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: new Uint8Array(await response.arrayBuffer()),
    };
  };
}
