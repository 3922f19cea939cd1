import type { Clock } from '#core/clock.ts';
import { formatDuration } from '#core/duration.ts';
import { exchangeBy, type WholeAnswer, type WholeRequest } from '#core/exchange.ts';
import { Fault } from '#core/fault.ts';

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

/** Beside what the SDK itself knows of. */
export interface HandlerOptions {
  readonly abortSignal?: unknown;
  /** Hears the request as it leaves. */
  readonly sent?: ((request: WireRequest) => void) | undefined;
  /** The answer is there already: it is only to be understood. */
  readonly answer?: WholeAnswer | undefined;
}

const wholeOf = (request: WireRequest): WholeRequest => ({
  url: urlOf(request),
  method: request.method,
  headers: request.headers,
  body: request.body as WholeRequest['body'],
});

const never = new AbortController().signal;

/** Lets the SDK speak by what is handed in, so that nothing touches the network behind our back. */
export function requestHandler(fetchFrom: typeof fetch, exchange = exchangeBy(fetchFrom)) {
  return {
    async handle(
      request: WireRequest,
      { abortSignal, sent, answer: known }: HandlerOptions = {},
    ): Promise<{ response: WireResponse }> {
      sent?.(request);
      const signal = abortSignal instanceof AbortSignal ? abortSignal : never;
      const { status, headers, body } = known ?? (await exchange(wholeOf(request), signal));
      return { response: { statusCode: status, headers: { ...headers }, body } };
    },
    metadata: { handlerProtocol: 'http/1.1' },
    updateHttpClientConfig(): void {},
    httpHandlerConfigs: () => ({}),
    destroy(): void {},
  };
}

export interface Patience {
  readonly clock: Clock;
  readonly what: string;
  readonly withinMs: number;
}

/** Runs until it answers, its time is over or the caller gives up; whatever ignores its signal is left behind. */
export function answered<T>(
  { clock, what, withinMs }: Patience,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  return new Promise<T>((resolve, reject) => {
    const giveUp = (why: string): void => {
      const fault = new Fault('unavailable', `${what} ${why}.`);
      finish();
      ending.abort(fault);
      reject(fault);
    };
    const abandoned = (): void => giveUp('was given up');
    const cancel = clock.alarm(withinMs, () => giveUp(`did not answer within ${formatDuration(withinMs)}`));
    const finish = (): void => {
      cancel();
      signal.removeEventListener('abort', abandoned);
    };
    if (signal.aborted) return abandoned();
    signal.addEventListener('abort', abandoned, { once: true });
    run(ending.signal).then(resolve, reject).finally(finish);
  });
}
