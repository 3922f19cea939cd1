/** As much of the SDK's own request as is needed here. */
export interface WireRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
  readonly method: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface WireResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

export function urlOf({ protocol, hostname, port, path, query }: WireRequest): string {
  const host = hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname;
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    for (const one of [value ?? ''].flat()) params.append(key, one);
  }
  const search = params.size > 0 ? `?${params}` : '';
  return `${protocol}//${host}${port === undefined ? '' : `:${port}`}${path}${search}`;
}

interface HandlerOptions {
  readonly abortSignal?: unknown;
}

// `fetch` sets these itself, and refuses others.
const OWN_HEADERS = new Set(['host', 'content-length']);

/** Lets the SDK speak by a `fetch` that was handed in. */
export function requestHandler(fetchFrom: typeof fetch) {
  return {
    async handle(request: WireRequest, { abortSignal }: HandlerOptions = {}): Promise<{ response: WireResponse }> {
      const { method, body } = request;
      const response = await fetchFrom(urlOf(request), {
        method,
        headers: Object.entries(request.headers).filter(([name]) => !OWN_HEADERS.has(name.toLowerCase())),
        redirect: 'manual',
        ...(abortSignal instanceof AbortSignal && { signal: abortSignal }),
        ...(body === undefined || method === 'GET' || method === 'HEAD'
          ? {}
          : { body: body as string | Uint8Array<ArrayBuffer> }),
      });
      const headers = Object.fromEntries(response.headers);
      return { response: { statusCode: response.status, headers, body: new Uint8Array(await response.arrayBuffer()) } };
    },
    metadata: { handlerProtocol: 'http/1.1' },
    updateHttpClientConfig(): void {},
    httpHandlerConfigs: () => ({}),
    destroy(): void {},
  };
}
