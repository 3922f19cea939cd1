// One request to an API server: credential, trust, deadline, and what a refusal means.
import { answered, messagesOf, plainMessage } from '#core/answer.ts';
import type { Clock } from '#core/clock.ts';
import type { ClusterAccess, ClusterCredential, ServerReach } from '#core/cluster-access.ts';
import { Fault } from '#core/fault.ts';
import { describeIntent, type KubeIntent, readStatus, refusalOf } from './faults.ts';

export interface ExchangeDeps {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  /** `fetch` that trusts what this says and shows its certificate. */
  fetchWith(tls: ServerReach): typeof fetch;
}

export interface KubeRequest extends KubeIntent {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly body?: unknown;
  /** Of the body; JSON where absent. */
  readonly contentType?: string | undefined;
}

export interface Exchange {
  /** The address of the API server, for messages. */
  readonly server: string;
  /** The answer's head; its body is still to be read, and the signal ends that too. Refusals are thrown. */
  open(request: KubeRequest, signal: AbortSignal): Promise<Response>;
  /** The whole answer as JSON, within a time. */
  ask<T>(request: KubeRequest, signal: AbortSignal): Promise<T>;
}

// The API server itself gives up after 60 s.
const WITHIN_MS = 60_000;

const TLS_FIELDS = ['ca', 'cert', 'key', 'serverName', 'isInsecure', 'proxyUrl'] as const;

const isSameTls = (a: ServerReach, b: ServerReach): boolean => TLS_FIELDS.every((field) => a[field] === b[field]);

function isSameCredential(a: ClusterCredential, b: ClusterCredential): boolean {
  return a === b || (isSameTls(a.tls, b.tls) && JSON.stringify(a.headers) === JSON.stringify(b.headers));
}

// k8s.io/apiserver/pkg/endpoints/handlers/negotiation: a list has a form of its own, an event of a watch that of its object.
const METADATA_OF = { list: 'PartialObjectMetadataList', one: 'PartialObjectMetadata' } as const;
const HAS_OBJECT: ReadonlySet<KubeIntent['verb']> = new Set(['get', 'list', 'watch', 'create', 'update', 'patch']);

/** In what form the answer is wanted; the answer to a delete may be no object. */
function acceptedBy({ verb, resource }: KubeIntent): string {
  if (!resource.isMetadataOnly || !HAS_OBJECT.has(verb)) return 'application/json';
  return `application/json;as=${METADATA_OF[verb === 'list' ? 'list' : 'one']};g=meta.k8s.io;v=v1`;
}

function addressOf(server: string, { path, query = {} }: KubeRequest): string {
  const wanted = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(wanted.map(([key, value]): [string, string] => [key, String(value)])).toString();
  return `${server}${path}${text === '' ? '' : `?${text}`}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function openExchange({ access, clock, fetchWith }: ExchangeDeps): Exchange {
  let trusted: { readonly tls: ServerReach; readonly fetch: typeof fetch } | undefined;
  let lastHanded: ClusterCredential | undefined;

  // Each `fetch` keeps connections of its own, so the same trust must mean the same one.
  function fetchFor(tls: ServerReach): typeof fetch {
    if (trusted === undefined || !isSameTls(trusted.tls, tls)) trusted = { tls, fetch: fetchWith(tls) };
    return trusted.fetch;
  }

  async function send(request: KubeRequest, credential: ClusterCredential, signal: AbortSignal): Promise<Response> {
    const { method, body, contentType = 'application/json' } = request;
    const fetchFrom = fetchFor(credential.tls);
    const headers = { accept: acceptedBy(request), ...credential.headers };
    return await fetchFrom(addressOf(access.server, request), {
      method,
      redirect: 'manual',
      signal,
      ...(body === undefined
        ? { headers }
        : { headers: { ...headers, 'content-type': contentType }, body: JSON.stringify(body) }),
    });
  }

  async function sendKnown(request: KubeRequest, signal: AbortSignal) {
    const credential = await access.credential(signal);
    lastHanded = credential;
    return { credential, answer: await send(request, credential, signal) };
  }

  async function sendTwice(request: KubeRequest, signal: AbortSignal): Promise<Response> {
    const { credential, answer } = await sendKnown(request, signal);
    if (answer.status !== 401) return answer;
    // Frees the connection; no caller waits for that.
    answer.body?.cancel().catch(() => {});
    // Of several requests that were refused with one credential only the first has it renewed.
    if (lastHanded !== undefined && isSameCredential(lastHanded, credential)) {
      lastHanded = undefined;
      access.refused?.();
    }
    return (await sendKnown(request, signal)).answer;
  }

  function lost(request: KubeRequest, thrown: unknown): Fault {
    if (thrown instanceof Fault) return thrown;
    const why = plainMessage(messagesOf(thrown));
    return new Fault('unavailable', `${access.server} did not answer (${describeIntent(request)}): ${why}`, {
      cause: thrown,
      remedy: 'Check that the API server runs and that this address can be reached from here.',
    });
  }

  async function attempt(request: KubeRequest, signal: AbortSignal): Promise<Response> {
    try {
      const answer = await sendTwice(request, signal);
      if (answer.ok) return answer;
      const status = readStatus(answer.status, parsed(await answer.text()));
      const retryAfter = answer.headers.get('retry-after');
      throw refusalOf(request, status, { server: access.server, retryAfter, nowMs: clock.now() });
    } catch (thrown) {
      throw lost(request, thrown);
    }
  }

  async function whole(request: KubeRequest, signal: AbortSignal): Promise<unknown> {
    const answer = await attempt(request, signal);
    const text = await answer.text().catch((thrown) => {
      throw lost(request, thrown);
    });
    const body = parsed(text);
    if (typeof body === 'object' && body !== null) return body;
    throw new Fault(
      'unavailable',
      `The answer of ${access.server} is cut off or no JSON (${describeIntent(request)}).`,
      {
        remedy: `Check that ${access.server} is the address of a Kubernetes API server.`,
      },
    );
  }

  const patience = (request: KubeRequest) => ({
    clock,
    what: `The request to ${describeIntent(request)} at ${access.server}`,
    withinMs: WITHIN_MS,
  });

  return {
    server: access.server,
    open: (request, signal) => answered(patience(request), signal, () => attempt(request, signal)),
    ask: <T>(request: KubeRequest, signal: AbortSignal) =>
      answered(patience(request), signal, (ending) => whole(request, ending) as Promise<T>),
  };
}
