import { Fault } from '#core/fault.ts';
import type { RunningServer } from './server.ts';

/** What an answer of the API holds of a session. */
export interface ShownSession {
  readonly id: string;
  readonly phase: string;
}

export interface Question {
  readonly path: string;
  /** Posted, where there is one. */
  readonly body?: unknown;
}

/** Asks the API at that address; anything but success is a fault. */
export async function ask(base: string, token: string, { path, body }: Question): Promise<string> {
  const response = await fetch(`${base}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Fault('unavailable', `${path} answered ${response.status}: ${text}`);
  return text;
}

/** The same of a server that serves. */
export async function askServer(server: RunningServer, question: Question): Promise<string> {
  const { http } = await server.serving;
  return ask(http, server.token(), question);
}

export async function submit(server: RunningServer, pool: string, command: readonly string[]): Promise<ShownSession> {
  return JSON.parse(await askServer(server, { path: '/sessions', body: { pool, command } })) as ShownSession;
}
