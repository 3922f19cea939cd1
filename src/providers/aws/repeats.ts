// A listing of thousands of pages asks the same thing over and over: there the SDK's way from an input to a request,
// and from an answer to an output, costs many times what signing, sending and reading do.
import { Buffer } from 'node:buffer';
import type { Clock } from '#core/clock.ts';
import type { Exchange, WholeAnswer } from '#core/exchange.ts';
import { type HandlerOptions, urlOf, type WireRequest } from './http.ts';
import { type Credentials, openSigner, type Sign } from './signature.ts';

export interface RepeatsDeps {
  readonly clock: Clock;
  readonly exchange: Exchange;
  credentials(): Promise<Credentials>;
  /** How far the clock of AWS is ahead, as the SDK has learned. */
  aheadMs(): number;
  /** Asks by the SDK in all its length. */
  send(input: object, options: HandlerOptions): Promise<unknown>;
}

type Headers = Readonly<Record<string, string>>;

/** What all requests have in common. */
interface Pattern {
  readonly url: string;
  readonly headers: Headers;
  readonly sign: Sign;
}

// They belong to one request alone, or come of signing it.
const OF_ONE = /^(authorization|content-length|x-amz-(date|content-sha256|security-token)|amz-sdk-.*)$/;
const SIGNED =
  /^AWS4-HMAC-SHA256 Credential=[^/]+\/\d+\/(?<region>[^/]+)\/(?<service>[^/]+)\/aws4_request, SignedHeaders=(?<names>[^,]+),/;

/** Nothing where the SDK signs in another way, or asks at another place, than is known here. */
function patternOf(request: WireRequest): Pattern | undefined {
  const headers = Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const { region, service, names } = SIGNED.exec(new Map(headers).get('authorization') ?? '')?.groups ?? {};
  const isAtRoot = request.method === 'POST' && request.path === '/' && Object.keys(request.query ?? {}).length === 0;
  if (!isAtRoot || region === undefined || service === undefined || names === undefined) return undefined;
  const isSigned = new Set(names.split(';'));
  const common = headers.filter(([name]) => !OF_ONE.test(name));
  const signed = Object.fromEntries(common.filter(([name]) => isSigned.has(name)));
  return {
    url: urlOf(request),
    headers: Object.fromEntries(common),
    sign: openSigner({ region, service, headers: signed }),
  };
}

function outputOf({ status, body }: WholeAnswer): object | undefined {
  if (status !== 200) return undefined;
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()) as object;
  } catch {
    return undefined;
  }
}

/**
 * Asks one action of the JSON protocol. The SDK makes the first request; those that follow differ from it only in
 * body, date and signature. An answer that is not a plain yes is for the SDK to understand, and then it makes the next
 * request itself again: whatever has changed, it finds out.
 */
export function openRepeats(deps: RepeatsDeps): (input: object, signal: AbortSignal) => Promise<unknown> {
  const { clock, exchange } = deps;
  let pattern: Pattern | undefined;

  function first(input: object, abortSignal: AbortSignal): Promise<unknown> {
    const sent = (request: WireRequest): void => {
      pattern = patternOf(request);
    };
    return deps.send(input, { abortSignal, sent });
  }

  return async (input, signal) => {
    if (!pattern) return first(input, signal);
    const { url, headers: common, sign } = pattern;
    const body = JSON.stringify(input);
    const signature = sign(await deps.credentials(), { body, at: clock.now() + deps.aheadMs() });
    const headers = Object.assign(signature, common);
    const answer = await exchange({ url, method: 'POST', headers, body }, signal);
    const output = outputOf(answer);
    if (output) return output;
    pattern = undefined;
    return deps.send(input, { abortSignal: signal, answer });
  };
}
