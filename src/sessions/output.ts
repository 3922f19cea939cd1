import type { AgentReport } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import type { OutputChunk, OutputPosition, Session } from '#core/session.ts';
import { append, type Change, put, type Store } from '#core/store.ts';
import type { Ack, Delivery } from './delivery.ts';
import { commitThen, type SessionLimits, type SessionsDeps, whenDurable } from './deps.ts';

type OutputReport = Extract<AgentReport, { is: 'output' }>;

// Most that must be read again after a restart to know how far the output of an attempt was kept.
const SAVE_POSITION_EVERY_CHUNKS = 256;
const SAVE_POSITION_EVERY_BYTES = 2 ** 20;

interface Stream {
  seq: number;
  bytes: number;
  isCut: boolean;
  chunksSinceSaved: number;
  bytesSinceSaved: number;
  /** Reports that arrived while the history is read. */
  waiting?: (() => void)[] | undefined;
}

/** Keeps the output that agents report: each number once, up to a limit, acknowledged when durable. */
export interface OutputKeeper {
  /** Whether a report can be handled now. If not, `again` is called once the earlier output of this session is known. */
  isReady(session: Session, again: () => void): boolean;
  keep(session: Session, report: OutputReport): void;
  position(session: Session): OutputPosition | undefined;
  forget(id: string): void;
}

export interface KeeperParts {
  readonly delivery: Delivery;
  readonly limits: SessionLimits;
}

export function openOutputKeeper(deps: SessionsDeps, { delivery, limits }: KeeperParts): OutputKeeper {
  const { store, clock, log, link } = deps;
  const streams = new Map<string, Stream>();
  // Attempts that an earlier process placed: the history has how far their output was kept.
  const inherited = new Set<string>();
  for (const session of store.view.sessions.all()) if (session.worker !== undefined) inherited.add(session.id);
  const acks = ackWriter(delivery);

  function streamOf(session: Session): Stream {
    const known = streams.get(session.id);
    if (known) return known;
    const { seq, bytes, isCut } = session.output ?? { seq: 0, bytes: 0, isCut: false };
    const stream: Stream = { seq, bytes, isCut, chunksSinceSaved: 0, bytesSinceSaved: 0 };
    streams.set(session.id, stream);
    if (inherited.delete(session.id)) {
      stream.waiting = [];
      void load(session, stream);
    }
    return stream;
  }

  async function load(session: Session, stream: Stream): Promise<void> {
    try {
      await readOn(store, session, stream);
    } catch (thrown) {
      return loadFailed(session, stream, Fault.from(thrown));
    }
    const waiting = stream.waiting ?? [];
    stream.waiting = undefined;
    for (const run of waiting) run();
  }

  function loadFailed({ id, worker = '' }: Session, stream: Stream, { message }: Fault): void {
    log('error', 'reading output from the store failed', { session: id, error: message });
    if (streams.get(id) === stream) {
      streams.delete(id);
      inherited.add(id);
    }
    // The agent keeps what is not acknowledged, and sends it again when it reconnects.
    link.dismiss(worker, 'The server could not read the stored output of a session. Reconnect and send it again.');
  }

  function chunkOf(stream: Stream, { session, attempt, seq, stream: name, data }: OutputReport): OutputChunk {
    const at = clock.now();
    if (stream.bytes + data.length > limits.outputBytes) {
      stream.isCut = true;
      return {
        session,
        attempt,
        seq,
        stream: 'stderr',
        at,
        data: notice(`output cut after ${sizeOf(limits.outputBytes)}`),
      };
    }
    if (data.length <= limits.chunkBytes) return { session, attempt, seq, stream: name, at, data };
    const cut = notice(`${data.length - limits.chunkBytes} bytes cut: a piece of output was too large`);
    return { session, attempt, seq, stream: name, at, data: Buffer.concat([data.subarray(0, limits.chunkBytes), cut]) };
  }

  return {
    isReady(session, again) {
      if (!streams.has(session.id) && !inherited.has(session.id)) return true;
      const { waiting } = streamOf(session);
      waiting?.push(again);
      return waiting === undefined;
    },
    keep(session, report) {
      const stream = streamOf(session);
      const ack = (): void => {
        // The acknowledgement of its end covers all of its output.
        if (store.view.sessions.get(session.id)?.attempt === report.attempt) acks.add(session.worker ?? '', report);
      };
      if (report.seq <= stream.seq) return whenDurable(deps, ack);
      if (stream.isCut) {
        stream.seq = report.seq;
        return whenDurable(deps, ack);
      }
      const chunk = chunkOf(stream, report);
      count(stream, chunk);
      const changes: Change[] = [append('output', chunk)];
      if (stream.isCut || isPositionDue(stream))
        changes.push(put('sessions', { ...session, output: positionOf(stream) }));
      commitThen(deps, changes, ack);
    },
    position(session) {
      const stream = streams.get(session.id);
      return stream ? positionOf(stream) : session.output;
    },
    forget(id) {
      streams.delete(id);
      inherited.delete(id);
      acks.forget(id);
    },
  };
}

/** Reads the history from the stream's position to its end. */
async function readOn({ history }: Store, { id, attempt }: Session, stream: Stream): Promise<void> {
  for (;;) {
    const filter = { session: id, attempt, afterSeq: stream.seq };
    const page = await history.output(filter, SAVE_POSITION_EVERY_CHUNKS);
    for (const chunk of page) count(stream, chunk);
    if (page.length < SAVE_POSITION_EVERY_CHUNKS) return;
  }
}

function count(stream: Stream, { seq, data }: OutputChunk): void {
  stream.seq = seq;
  stream.bytes += data.length;
  stream.chunksSinceSaved += 1;
  stream.bytesSinceSaved += data.length;
}

function isPositionDue(stream: Stream): boolean {
  if (stream.chunksSinceSaved < SAVE_POSITION_EVERY_CHUNKS && stream.bytesSinceSaved < SAVE_POSITION_EVERY_BYTES)
    return false;
  stream.chunksSinceSaved = 0;
  stream.bytesSinceSaved = 0;
  return true;
}

const positionOf = ({ seq, bytes, isCut }: Stream): OutputPosition => ({ seq, bytes, isCut });

const notice = (text: string): Uint8Array => Buffer.from(`\n… ${text}\n`);

const sizeOf = (bytes: number): string => (bytes >= 2 ** 20 ? `${Math.floor(bytes / 2 ** 20)} MiB` : `${bytes} bytes`);

/** Many pieces become durable together; only the last one is acknowledged. */
function ackWriter(delivery: Delivery) {
  const due = new Map<string, Ack & { readonly agent: string }>();

  function flush(): void {
    for (const { agent, ...ack } of due.values()) delivery.ack(agent, ack);
    due.clear();
  }

  return {
    add(agent: string, { session, attempt, seq }: OutputReport): void {
      if (due.size === 0) queueMicrotask(flush);
      const before = due.get(session);
      const isOlder = before?.attempt === attempt && before.seq > seq;
      if (!isOlder) due.set(session, { agent, session, attempt, seq, result: false });
    },
    forget: (session: string): void => void due.delete(session),
  };
}
