import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '#core/fault.ts';
import type { Event } from '../../../src/api/wire/event.ts';
import type { Pool } from '../../../src/api/wire/pool.ts';
import type { OutputLine, Session, SessionIn } from '../../../src/api/wire/session.ts';
import type { Worker } from '../../../src/api/wire/worker.ts';
import type { World } from './world.ts';

/** The API of a server, as a program would use it. */
export interface Api {
  request(path: string, init?: RequestInit): Promise<Response>;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body?: unknown, headers?: Record<string, string>): Promise<T>;
  submit(request: SessionIn, key?: string): Promise<Session>;
  session(id: string): Promise<Session>;
  /** All that it printed. */
  output(id: string): Promise<string>;
  outputLines(id: string): Promise<OutputLine[]>;
  workers(): Promise<Worker[]>;
  events(kind?: string): Promise<Event[]>;
  pool(name: string): Promise<Pool>;
}

const ANSWER_WITHIN_MS = 120_000;

/** Speaks to that address with the token of the world's data directory. */
export function apiOf(world: World, httpPort: number): Api {
  const token = (): string => readFileSync(join(world.dataDir, 'admin.token'), 'utf8').trim();

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${token()}`, ...(init.headers as Record<string, string>) };
    const signal = init.signal ?? AbortSignal.timeout(ANSWER_WITHIN_MS);
    const reply = await fetch(`http://127.0.0.1:${httpPort}/api/v1${path}`, { ...init, headers, signal });
    if (!reply.ok) throw new Fault('unavailable', `${path} answered ${reply.status}: ${await reply.text()}`);
    return reply;
  }

  async function get<T>(path: string): Promise<T> {
    return (await (await request(path)).json()) as T;
  }

  async function post<T>(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
    const init = {
      method: 'POST',
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    };
    const reply = await request(path, body === undefined ? init : { ...init, body: JSON.stringify(body) });
    return (await reply.json()) as T;
  }

  const items = async <T>(path: string): Promise<T[]> => (await get<{ items: T[] }>(path)).items;

  const api: Api = {
    request,
    get,
    post,
    submit: (wanted, key) => post<Session>('/sessions', wanted, key === undefined ? {} : { 'idempotency-key': key }),
    session: (id) => get<Session>(`/sessions/${id}`),
    async output(id) {
      return (await api.outputLines(id)).map(({ data }) => Buffer.from(data, 'base64').toString()).join('');
    },
    async outputLines(id) {
      const text = await (await request(`/sessions/${id}/output`)).text();
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as OutputLine);
    },
    workers: () => items<Worker>('/workers?limit=1000'),
    events: (kind) => items<Event>(`/events?limit=1000&order=newest${kind === undefined ? '' : `&kind=${kind}`}`),
    pool: (name) => get<Pool>(`/pools/${name}`),
  };
  return api;
}
