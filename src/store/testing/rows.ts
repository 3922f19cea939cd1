// Rows for tests of the store.
import type { EventRow } from '#core/journal.ts';
import type { OutputChunk, Session } from '#core/session.ts';
import type { Worker } from '#core/worker.ts';

export function sampleWorker(id: string, more: Partial<Worker> = {}): Worker {
  return { id, pool: 'p1', machine: id, askedAt: 1, ...more };
}

export function sampleEvent(id: string, more: Partial<EventRow> = {}): EventRow {
  return { id, at: 1, kind: 'pool.created', subject: 'pool/a', who: 'muster', from: 'itself', message: id, ...more };
}

export function sampleOutput(session: string, seq: number, more: Partial<OutputChunk> = {}): OutputChunk {
  return { session, attempt: 1, seq, stream: 'stdout', at: 1, data: new Uint8Array([seq]), ...more };
}

export function sampleSession(id: string, more: Partial<Session> = {}): Session {
  const spec = { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 10_000, retries: 0 };
  return { id, pool: 'p1', poolName: 'local', spec, acceptedAt: 1, by: 'token:ci', attempt: 1, ...more };
}
