// A listing of thousands of pages asks the same thing over and over. It uses the SDK's endpoint, signer and connections,
// but not its middleware, which takes several times the processor time of all the rest.
import { Buffer } from 'node:buffer';
import type { Clock } from '#core/clock.ts';
import type { Client } from './client.ts';
import { awsFault } from './faults.ts';

export interface ListingDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly region: string;
  /** Where it is not AWS's own. */
  readonly endpoint: string | undefined;
  /** As the signature names it. */
  readonly service: string;
  /** What `x-amz-target` begins with. */
  readonly targetPrefix: string;
  readonly action: string;
  /** Asks by the SDK with all its middleware. */
  send(input: object, signal: AbortSignal): Promise<unknown>;
}

type Ask = (input: object, signal: AbortSignal) => Promise<unknown>;

/** An error as the SDK would throw it: the JSON protocol names it in `__type`, perhaps with a namespace. */
function errorOf(status: number, text: string): object {
  const { __type = '', message, Message } = jsonIn(text) as Readonly<Record<string, string | undefined>>;
  const name = __type.slice(__type.lastIndexOf('#') + 1);
  return { name, message: message ?? Message ?? '', $metadata: { httpStatusCode: status } };
}

function jsonIn(text: string): object {
  try {
    return (JSON.parse(text) ?? {}) as object;
  } catch {
    return {};
  }
}

/** Opens one action of the JSON protocol 1.1. */
export async function openListingCall(deps: ListingDeps): Promise<Ask> {
  const { client, clock, region, endpoint: Endpoint, service, action } = deps;
  const { config } = client;
  const [UseFIPS, UseDualStack] = await Promise.all([config.useFipsEndpoint(), config.useDualstackEndpoint()]);
  const { url } = config.endpointProvider({ Region: region, UseFIPS, UseDualStack, Endpoint });
  const signer = await config.signer({ name: 'sigv4', signingName: service, signingRegion: region, properties: {} });
  const headers = {
    host: url.host,
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': `${deps.targetPrefix}.${action}`,
    'user-agent': 'app/muster',
  };
  const request = {
    method: 'POST',
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    ...(url.port !== '' && { port: Number(url.port) }),
    path: url.pathname,
    query: {},
  };

  // A wrong clock looks like a wrong signature; only the SDK's middleware learns the time of AWS from an answer.
  let isDoubtful = false;

  return async (input, signal) => {
    if (isDoubtful) {
      isDoubtful = false;
      return deps.send(input, signal);
    }
    const signingDate = new Date(clock.now() + (config.systemClockOffset ?? 0));
    const body = JSON.stringify(input);
    const signed = await signer.sign({ ...request, headers: { ...headers }, body }, { signingDate });
    const { response } = await config.requestHandler.handle(signed, { abortSignal: signal });
    const bytes = response.body instanceof Uint8Array ? response.body : await config.streamCollector(response.body);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
    if (response.statusCode === 200) return JSON.parse(text);
    const fault = awsFault(errorOf(response.statusCode, text), { action: `${service}:${action}`, region });
    isDoubtful = fault.kind === 'unauthenticated';
    throw fault;
  };
}
