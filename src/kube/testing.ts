// An API server that answers as a test says, over a `fetch` of its own.

import type { ClusterAccess } from '#core/cluster-access.ts';
import { silentLog } from '#core/log.ts';
import { seededRandom } from '#core/random.ts';
import { going } from '#core/testing/going.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openKube } from './client.ts';
import type { KubeObject } from './object.ts';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

export type Answering = (request: SeenRequest) => Response | Promise<Response>;

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });

/** A refusal as the API server writes it. */
export function refusal(
  code: number,
  reason: string,
  message = reason,
  details: Record<string, unknown> = {},
): Response {
  return json({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details }, code);
}

export function aPod(name: string, version: number, more: Record<string, unknown> = {}): KubeObject {
  return { metadata: { name, namespace: 'ml', uid: `uid-${name}`, resourceVersion: String(version), ...more } };
}

export const aList = (version: number, items: readonly KubeObject[], next?: string): Response =>
  json({ kind: 'PodList', metadata: { resourceVersion: String(version), continue: next }, items });

export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The body of a watch, fed by the test. */
export function openStream() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
  });
  const raw = (text: string | Uint8Array): void =>
    controller?.enqueue(typeof text === 'string' ? new TextEncoder().encode(text) : text);
  return {
    response: new Response(body),
    raw,
    send: (type: string, object: unknown): void => raw(`${JSON.stringify({ type, object })}\n`),
    bookmark: (version: number): void => raw(`${JSON.stringify({ type: 'BOOKMARK', object: aPod('', version) })}\n`),
    end: (): void => controller?.close(),
    cut: (): void => controller?.error(new TypeError('terminated')),
  };
}

export type Stream = ReturnType<typeof openStream>;

export const hang = (request: SeenRequest): Promise<Response> =>
  new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(request.signal.reason)));

/** A client of an API server that answers as `answering` says; without an answer it hangs. */
export function openScripted(access: Partial<ClusterAccess> = {}) {
  const clock = new VirtualClock();
  const requests: SeenRequest[] = [];
  const script = { answering: hang as Answering };
  const scripted: typeof fetch = async (input, init = {}) => {
    const url = new URL(String(input));
    const signal = init.signal ?? going();
    if (signal.aborted) throw signal.reason;
    const request: SeenRequest = {
      method: init.method ?? 'GET',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: init.headers as Record<string, string>,
      body: init.body === undefined ? undefined : JSON.parse(String(init.body)),
      signal,
    };
    requests.push(request);
    return await script.answering(request);
  };
  const whole: ClusterAccess = {
    id: 'https://kube.test',
    server: 'https://kube.test',
    credential: async () => ({ headers: { authorization: 'Bearer t1' }, tls: {} }),
    ...access,
  };
  const deps = { access: whole, clock, random: seededRandom(1), log: silentLog, fetchWith: () => scripted };
  return { ...deps, clock, requests, script, kube: openKube(deps) };
}
