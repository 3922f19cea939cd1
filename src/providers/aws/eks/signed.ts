// Calls of services whose clients would weigh megabytes for one question: signed and sent by the SDK, asked by hand.
import { Buffer } from 'node:buffer';
import { answered } from '#core/answer.ts';
import type { Clock } from '#core/clock.ts';
import { retried } from '#rest/retry.ts';
import type { Client, OpenedClient, Signer } from '../client.ts';
import { awsFault } from '../faults.ts';
import type { WireRequest } from '../http.ts';

export type SignedService = 'eks' | 'sts';

export interface SignedCall {
  readonly service: SignedService;
  /** For messages and rights: `DescribeCluster`. */
  readonly action: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** A form. */
  readonly body?: string;
}

export interface Signing {
  readonly region: string;
  readonly client: Client;
  readonly signer: Signer;
  /** AWS's own address of the service in this region. */
  hostOf(service: SignedService): string;
  /** The text of the answer; every failure is a fault. */
  ask(call: SignedCall, signal: AbortSignal): Promise<string>;
}

const WITHIN_MS = 30_000;

/** The name of an exception stands in a header of REST services, perhaps with an address after it; in the XML of STS. */
function errorOf(status: number, headers: Readonly<Record<string, string>>, text: string): object {
  const type = headers['x-amzn-errortype']?.split(':')[0];
  const name = type ?? /<Code>([^<]+)<\/Code>/.exec(text)?.[1] ?? '';
  const inXml = /<Message>([^<]*)<\/Message>/.exec(text)?.[1];
  const inJson = /"[mM]essage"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  const message = inXml ?? (inJson === undefined ? '' : (JSON.parse(inJson) as string));
  return { name, message, $metadata: { httpStatusCode: status } };
}

export async function openSigning({ client, region, endpoint }: OpenedClient, clock: Clock): Promise<Signing> {
  const { config } = client;
  const signer = await config.signer({ name: 'sigv4', signingName: 'eks', signingRegion: region, properties: {} });
  const [isFips, isDual] = await Promise.all([config.useFipsEndpoint(), config.useDualstackEndpoint()]);

  // The client's own rules know the domain of each part of AWS; the names of the services differ only in front.
  function hostOf(service: SignedService): string {
    const rules = { Region: region, UseFIPS: false, UseDualStack: service === 'eks' && isDual };
    const { host } = config.endpointProvider(rules).url;
    const rest = host.slice(host.indexOf('.'));
    if (!isFips) return `${service}${rest}`;
    return service === 'eks' ? `fips.eks${rest}` : `${service}-fips${rest}`;
  }

  function requestOf({ service, method, path, query = {}, body }: SignedCall): WireRequest {
    const { protocol, hostname, port, host } = new URL(endpoint ?? `https://${hostOf(service)}`);
    return {
      method,
      protocol,
      hostname,
      ...(port !== '' && { port: Number(port) }),
      path,
      query,
      headers: { host, ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }) },
      ...(body !== undefined && { body }),
    };
  }

  async function exchange(call: SignedCall, signal: AbortSignal): Promise<string> {
    const signingDate = new Date(clock.now() + (config.systemClockOffset ?? 0));
    const signed = await signer.sign(requestOf(call), { signingDate, signingService: call.service });
    const { response } = await config.requestHandler.handle(signed, { abortSignal: signal });
    const bytes = response.body instanceof Uint8Array ? response.body : await config.streamCollector(response.body);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
    if (response.statusCode === 200) return text;
    throw errorOf(response.statusCode, response.headers, text);
  }

  return {
    region,
    client,
    signer,
    hostOf,
    ask(call, signal) {
      const action = `${call.service}:${call.action}`;
      const patience = { clock, what: `${action} in ${region}`, withinMs: WITHIN_MS };
      return retried(clock, signal, () =>
        answered(patience, signal, (ending) => exchange(call, ending)).catch((thrown) => {
          throw awsFault(thrown, { action, region });
        }),
      );
    },
  };
}
