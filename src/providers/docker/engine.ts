// One Docker engine as this process reaches it: its version, questions, and answers that come line by line.
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import { openLines } from '#kube/watching.ts';
import { type Ask, type RestRequest, restClient } from '#rest/client.ts';
import type { Info, Version } from './api.ts';
import type { Endpoint } from './endpoint.ts';
import { explain, unreached } from './faults.ts';

export interface Stream {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly bytes?: RestRequest['bytes'];
  /** The engine has agreed: lines follow as they come. */
  opened?(): void;
}

export interface Engine {
  readonly clock: Clock;
  /** `unix:///var/run/docker.sock` */
  readonly address: string;
  readonly isLocal: boolean;
  /** Its containers run in a virtual machine, whose gateway leads to the loopback of this one. */
  readonly isDesktop: boolean;
  /** Of its containers, as `uname -m` prints it there. */
  readonly machine: string;
  /** A longer time than usual where the engine itself waits for something. */
  ask<T>(request: RestRequest, signal: AbortSignal, withinMs?: number): Promise<T>;
  /** The JSON lines of an answer as they come. */
  lines<T>(stream: Stream, signal: AbortSignal): AsyncGenerator<T, void, undefined>;
}

const WITHIN_MS = 60_000;
// 20.10, the first that knows `host-gateway`; and the newest that this client was written for.
const [LEAST_API, MOST_API] = ['1.41', '1.47'];

// Go and `uname` have different words for the same machines.
const MACHINES: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' };

const minorOf = (version: string): number => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major * 1_000 + minor;
};

/** The version that we speak: newer engines refuse old ones, and old engines refuse new ones. */
function chosenVersion({ ApiVersion, Version: engine }: Version, address: string): string {
  if (minorOf(ApiVersion ?? '') < minorOf(LEAST_API)) {
    throw new Fault('unsupported', `Docker at ${address} is of version ${engine} (API ${ApiVersion}).`, {
      remedy: 'Install Docker Engine 20.10 or newer.',
    });
  }
  return minorOf(ApiVersion) > minorOf(MOST_API) ? MOST_API : ApiVersion;
}

export async function openEngine(endpoint: Endpoint, context: Context, signal: AbortSignal): Promise<Engine> {
  const { clock } = context;
  const { address } = endpoint;
  const fetchFrom = context.fetchWith?.(endpoint.reach) ?? context.fetch;
  const cloud = `Docker (${address})`;

  const openAsk = (base: string, withinMs: number): Ask => {
    const options = { fetch: fetchFrom, clock, base, cloud, withinMs, headers: async () => ({}), explain };
    const ask = restClient(options);
    return (request, ending) =>
      ask<never>(request, ending).catch((thrown) => {
        throw unreached(address, Fault.from(thrown));
      });
  };

  const version = await openAsk(endpoint.base, WITHIN_MS)<Version>({ path: '/version' }, signal);
  if (!version?.ApiVersion) throw new Fault('unavailable', `What answers at ${address} is no Docker engine.`);
  const base = `${endpoint.base}/v${chosenVersion(version, address)}`;
  const ask = openAsk(base, WITHIN_MS);
  const info = await ask<Info>({ path: '/info' }, signal);

  async function* lines<T>({ method = 'GET', path, query = {}, opened, ...sent }: Stream, ending: AbortSignal) {
    const { bytes } = sent;
    const url = `${base}${path}?${new URLSearchParams(query)}`;
    const headers = { ...sent.headers, ...(bytes && { 'content-type': bytes.type }) };
    const content = bytes && { body: bytes.content };
    const answer = await fetchFrom(url, { method, headers, signal: ending, ...content }).catch((thrown) => {
      throw unreached(
        address,
        new Fault('unavailable', `${method} ${path} of ${cloud} got no answer.`, { cause: thrown }),
      );
    });
    if (!answer.ok) {
      const said = await answer.text().catch(() => '');
      throw refusalOf(`${method} ${path} of ${cloud}`, answer.status, said);
    }
    opened?.();
    for await (const line of textLines(answer)) yield JSON.parse(line) as T;
  }

  return {
    clock,
    address,
    isLocal: endpoint.isLocal,
    isDesktop: /docker desktop/i.test(info?.OperatingSystem ?? ''),
    machine: MACHINES[version.Arch ?? ''] ?? version.Arch ?? '',
    ask: (request, ending, withinMs) => (withinMs === undefined ? ask : openAsk(base, withinMs))(request, ending),
    lines,
  };
}

async function* textLines(answer: Response): AsyncGenerator<string, void, undefined> {
  const text = new TextDecoder();
  const held = openLines();
  for await (const chunk of answer.body ?? [])
    for (const line of held.push(text.decode(chunk, { stream: true }))) if (line.trim() !== '') yield line;
  if (held.rest().trim() !== '') yield held.rest();
}

function refusalOf(what: string, status: number, text: string): Fault {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const { kind = 'unavailable', message = '', remedy } = explain(status, body) ?? {};
  return new Fault(kind, `${what} failed: ${status}: ${message}`, { remedy });
}
