import { Readable } from 'node:stream';
import type { Role } from '#core/access.ts';
import { BEAT_EVERY_MS } from './beat.ts';
import type { ChangeHub, Touch } from './change-hub.ts';
import type { ApiDeps } from './deps.ts';
import type { ChangeTable } from './noun.ts';
import type { Change } from './wire/event.ts';

const FLUSH_EVERY_MS = 250;
// A client that reads nothing for this many heartbeats is disconnected.
const MOST_MISSED = 4;
const MOST_PENDING = 5_000;
const ROWS_A_TURN = 500;

export interface ChangeWish {
  /** By name. */
  readonly tables: ReadonlyMap<string, ChangeTable>;
  /** Only these rows; absent: all. */
  readonly ids?: ReadonlySet<string> | undefined;
  /** The last position that this client has seen. */
  readonly since?: string | undefined;
  /** Of the client. */
  readonly role: Role;
  readonly signal: AbortSignal;
  /** Resolves when the round robin reaches this client. One change or one commit wakes all streams at once. */
  readonly turn: () => Promise<void>;
}

const message = (event: string, id: string, data: unknown): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * Server-sent events: a row that changes often is sent at most four times a second, as it is then.
 * A client that cannot keep up, or was away too long, gets `reset` and lists everything again.
 */
export function changeStream(deps: ApiDeps, hub: ChangeHub, wish: ChangeWish): Readable {
  const { clock, store } = deps;
  const pending = new Map<string, Touch>();
  let mustReset = false;
  let isBlocked = false;
  let missed = 0;
  let flushing: (() => void) | undefined;
  let flushedAtMs = Number.NEGATIVE_INFINITY;
  let cancelHeartbeat = (): void => {};

  const stream = new Readable({
    read() {
      isBlocked = false;
      missed = 0;
      if (pending.size > 0 || mustReset) schedule();
    },
    destroy(_error, done) {
      stop();
      done(null);
    },
  });
  const unsubscribe = hub.subscribe(touched);
  const end = (): void => void stream.push(null);

  function stop(): void {
    unsubscribe();
    flushing?.();
    cancelHeartbeat();
    wish.signal.removeEventListener('abort', end);
  }

  function send(text: string): void {
    if (!stream.destroyed && !stream.readableEnded && !wish.signal.aborted) isBlocked = !stream.push(text);
  }

  function touched(touch: Touch): void {
    if (!wish.tables.has(touch.table) || wish.ids?.has(touch.id) === false || mustReset) return;
    const key = `${touch.table} ${touch.id}`;
    pending.delete(key);
    pending.set(key, touch);
    if (pending.size > MOST_PENDING) {
      pending.clear();
      mustReset = true;
    }
    schedule();
  }

  function schedule(): void {
    if (flushing || isBlocked) return;
    const waitMs = Math.max(0, flushedAtMs + FLUSH_EVERY_MS - clock.monotonic());
    flushing = clock.alarm(waitMs, () => {
      flush().then(
        () => {
          flushing = undefined;
          if (pending.size > 0 || mustReset) schedule();
        },
        () => stream.destroy(), // The store has failed: the process is about to end.
      );
    });
  }

  async function flush(): Promise<void> {
    flushedAtMs = clock.monotonic();
    // An ended row is in history once durable; only then can it be read here.
    await store.durable();
    await wish.turn();
    const texts: string[] = [];
    if (mustReset) {
      mustReset = false;
      texts.push(message('reset', hub.position(), {}));
    }
    for (const [key, touch] of Iterator.from(pending).take(ROWS_A_TURN)) {
      pending.delete(key);
      const row = wish.tables.get(touch.table)?.row(touch.id, deps, { role: wish.role, kept: hub.kept(touch) });
      const change: Change = { table: touch.table, id: touch.id, row };
      texts.push(message('change', hub.position(touch.n), change));
    }
    // The rows may be newer than what was durable a moment ago.
    await store.durable();
    await wish.turn();
    if (texts.length > 0) send(texts.join(''));
  }

  function beat(): void {
    missed = isBlocked ? missed + 1 : 0;
    if (missed >= MOST_MISSED) return void stream.destroy();
    if (!isBlocked) void wish.turn().then(() => send(':\n\n'));
    cancelHeartbeat = clock.alarm(BEAT_EVERY_MS, beat);
  }

  const resumed = wish.since === undefined ? [] : hub.since(wish.since);
  send(`retry: 1000\n${message(resumed ? 'hello' : 'reset', resumed && wish.since ? wish.since : hub.position(), {})}`);
  for (const touch of resumed ?? []) touched(touch);
  cancelHeartbeat = clock.alarm(BEAT_EVERY_MS, beat);
  wish.signal.addEventListener('abort', end, { once: true });
  return stream;
}
