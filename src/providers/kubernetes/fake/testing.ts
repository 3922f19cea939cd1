// What tests of the simulated cluster share: a cluster on a virtual clock, and calls as plain as HTTP.
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { type FakeKubernetes, type FakeKubernetesOptions, openFakeKubernetes } from './fake-kubernetes.ts';
import type { KubeObject } from './objects/object.ts';

export interface Answered {
  readonly status: number;
  readonly body: KubeObject & Readonly<Record<string, unknown>>;
  readonly headers: Headers;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: KubeObject & Readonly<Record<string, unknown>>;
}

/** A watch whose events are collected as they come. */
export interface TestWatch {
  readonly events: WatchEvent[];
  /** Undefined while it is open; `end`, or what broke it. */
  readonly ended: () => unknown;
  stop(): void;
}

export interface Scene {
  readonly clock: VirtualClock;
  readonly fake: FakeKubernetes;
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  post(path: string, body: unknown): Promise<Answered>;
  /** A JSON merge patch unless another type is said. */
  patch(path: string, body: unknown, type?: string): Promise<Answered>;
  apply(path: string, body: unknown, manager?: string, more?: string): Promise<Answered>;
  remove(path: string, body?: unknown): Promise<Answered>;
  watch(path: string): Promise<TestWatch>;
}

const SERVER = 'http://cluster.test';

async function follow(response: Response, events: WatchEvent[]): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) events.push(JSON.parse(line) as WatchEvent);
  }
}

export function openScene(options: Partial<FakeKubernetesOptions> = {}): Scene {
  const clock = new VirtualClock();
  const fake = openFakeKubernetes({ clock, random: seededRandom(1), ...options });

  const call: Scene['call'] = async (method, path, body, headers = {}) => {
    const written = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const response = await fake.fetch(`${SERVER}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...written,
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, body: isJson ? JSON.parse(text) : { text }, headers: response.headers };
  };

  return {
    clock,
    fake,
    call,
    get: (path, headers) => call('GET', path, undefined, headers),
    post: (path, body) => call('POST', path, body),
    patch: (path, body, type = 'merge-patch+json') =>
      call('PATCH', path, body, { 'content-type': `application/${type}` }),
    apply: (path, body, manager = 'tester', more = '') =>
      call('PATCH', `${path}?fieldManager=${manager}${more}`, body, { 'content-type': 'application/apply-patch+yaml' }),
    remove: (path, body) => call('DELETE', path, body),
    async watch(path) {
      const stopping = new AbortController();
      const response = await fake.fetch(`${SERVER}${path}`, { signal: stopping.signal });
      const events: WatchEvent[] = [];
      let ended: unknown;
      follow(response, events).then(
        () => {
          ended = 'end';
        },
        (thrown: unknown) => {
          ended = thrown;
        },
      );
      return { events, ended: () => ended, stop: () => stopping.abort() };
    },
  };
}

export const PODS = '/api/v1/namespaces/default/pods';
export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

export const aConfigMap = (name: string, data: object = {}, labels: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
  data,
});

export const aPod = (name: string, spec: object = {}, labels: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: { containers: [{ name: 'agent', image: 'velda/agent:1' }], ...spec },
});
