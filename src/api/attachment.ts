import type { RawData, WebSocket } from 'ws';
import { Fault } from '#core/fault.ts';
import type { Session } from '#core/session.ts';
import type { Caller } from '../access/access.ts';
import { checked } from './checked.ts';
import type { ApiDeps } from './deps.ts';
import { encodeOutput, type openTurns } from './encoded-output.ts';
import { shownSession } from './shown/session.ts';
import { CLOSE, closeSocket } from './socket-close.ts';
import { AttachIn, type AttachOut } from './wire/session.ts';

export interface AttachWish {
  readonly session: Session;
  readonly caller: Caller;
  readonly afterSeq: number;
  readonly attempt?: number | undefined;
}

interface Means {
  readonly deps: ApiDeps;
  readonly stopping: AbortSignal;
  /** Shared by all attached clients. */
  readonly turn: ReturnType<typeof openTurns>;
}

export const ATTACH_ROLE = 'operator';
const PING_EVERY_MS = 20_000;

const bytesOf = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data);

function messageOf(data: RawData, isBinary: boolean): AttachIn | { readonly bytes: Buffer } {
  const bytes = bytesOf(data);
  if (isBinary) return { bytes };
  try {
    return checked(AttachIn, JSON.parse(bytes.toString('utf8')), 'message');
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw new Fault('invalid', 'A text message must be JSON.', { at: 'message', cause: thrown });
  }
}

/** What the client says goes to the session: bytes, the end of them, the size of its window. */
function pass(data: RawData, isBinary: boolean, { spec, id }: Session, { sessions }: ApiDeps): void {
  const message = messageOf(data, isBinary);
  const hasInput = spec.stdin || spec.terminal !== undefined;
  if ('bytes' in message) sessions.input(id, message.bytes, false);
  else if ('input' in message) sessions.input(id, Buffer.from(message.input, 'base64'), false);
  // Closing stdin or resizing without a terminal is no error: clients do so unconditionally.
  else if ('eof' in message) hasInput && sessions.input(id, new Uint8Array(), true);
  else if (spec.terminal) sessions.resize(id, message.resize.columns, message.resize.rows);
}

/** Resolves when the message is written to the network, so that a slow reader slows down reading instead of filling memory. */
function say(socket: WebSocket, text: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) =>
    socket.send(text, { binary: false }, (error) => (error ? reject(error) : resolve())),
  );
}

async function show(socket: WebSocket, wish: AttachWish, { deps, turn }: Means, signal: AbortSignal): Promise<void> {
  const { session, afterSeq, attempt } = wish;
  for await (const chunk of deps.sessions.output(session.id, { follow: true, afterSeq, attempt }, signal)) {
    await deps.store.durable();
    const message = encodeOutput(chunk, 'message');
    await turn(message);
    await say(socket, message);
  }
  if (signal.aborted) return;
  const ended = await deps.sessions.refer(session.id, wish.caller);
  await deps.store.durable();
  await say(socket, JSON.stringify({ end: shownSession(ended, deps.store) } satisfies AttachOut));
}

// The broker disconnects an agent with too much waiting data: one session's input must stay far below that.
const MOST_WAITING_BYTES = 1024 * 1024;
const LOOK_AGAIN_MS = 10;
// A disconnected agent reconnects within seconds, also after a restart of the server.
const TRY_AGAIN_MS = 100;

interface Reading {
  isReading(): boolean;
  /** Called after input was forwarded; reading may have to pause now. */
  passed(): void;
  stop(): void;
}

/** Reads from the client only while the session accepts input; anything else waits in the network (back-pressure). */
function readWhileRunning(socket: WebSocket, id: string, deps: ApiDeps & { isHeld(): boolean }): Reading {
  const { store, clock, sessions } = deps;
  let cancelLook = (): void => {};
  const isRunning = (session: Session | undefined): boolean =>
    session === undefined || (session.worker !== undefined && session.startedAt !== undefined);

  function look(session: Session | undefined = store.view.sessions.get(id)): void {
    cancelLook();
    const isFull = sessions.inputWaitingBytes(id) > MOST_WAITING_BYTES;
    if (isFull) cancelLook = clock.alarm(LOOK_AGAIN_MS, () => look());
    if (isRunning(session) && !isFull && !deps.isHeld()) socket.resume();
    else socket.pause();
  }

  look();
  const stopListening = store.onChange('sessions', (after, _before, changed) => {
    if (changed === id) look(after);
  });
  return {
    isReading: () => !socket.isPaused,
    passed: () => look(),
    stop() {
      cancelLook();
      stopListening();
    },
  };
}

interface Message {
  readonly data: RawData;
  readonly isBinary: boolean;
}

/**
 * Passes messages on in order; while the agent is away they wait for its return. Part of a piped input may have been
 * lost with the agent's connection, so there the fault is sent instead.
 */
function passInTurn(pass: (message: Message) => void, { clock }: ApiDeps, mayWait: (isFirst: boolean) => boolean) {
  const held: Message[] = [];
  let isFirst = true;
  let cancel = (): void => {};

  function drain(): void {
    for (let next = held[0]; next; next = held[0]) {
      try {
        pass(next);
      } catch (thrown) {
        if (Fault.from(thrown).kind !== 'unavailable' || !mayWait(isFirst)) throw thrown;
        return;
      }
      isFirst = false;
      held.shift();
    }
  }

  return {
    isHeld: () => held.length > 0,
    add(message: Message): void {
      held.push(message);
      if (held.length === 1) drain();
    },
    /** Retries waiting messages later; `retry` calls `drain`. */
    later(retry: () => void): void {
      cancel();
      if (held.length > 0) cancel = clock.alarm(TRY_AGAIN_MS, retry);
    },
    drain,
    stop: () => cancel(),
  };
}

/** Connects a socket with a session until one of them ends. */
export function attachTo(socket: WebSocket, wish: AttachWish, means: Means): void {
  const { deps, stopping } = means;
  const { session } = wish;
  const over = new AbortController();
  let isAlive = true;
  let cancelPing = (): void => {};
  const unwatch = deps.access.watchToken(wish.caller.token, ATTACH_ROLE, ({ message }) =>
    finish(CLOSE.refused, message),
  );
  const isTerminal = session.spec.terminal !== undefined;
  const turn = passInTurn(passOn, deps, (isFirst) => isTerminal || isFirst);
  const reading = readWhileRunning(socket, session.id, { ...deps, isHeld: turn.isHeld });

  function finish(code: number, why: string): void {
    if (over.signal.aborted) return;
    over.abort();
    cancelPing();
    unwatch();
    turn.stop();
    reading.stop();
    stopping.removeEventListener('abort', stop);
    socket.resume();
    closeSocket(socket, code, why);
  }

  const stop = (): void => finish(CLOSE.stopping, 'The server is stopping.');

  function passOn({ data, isBinary }: Message): void {
    // After the end of the session no process reads input.
    const now = deps.store.view.sessions.get(session.id);
    if (now) pass(data, isBinary, now, deps);
  }

  function take(act: () => void): void {
    if (over.signal.aborted) return;
    try {
      act();
      turn.later(() => take(turn.drain));
      reading.passed();
    } catch (thrown) {
      finish(CLOSE.refused, deps.redactText(Fault.from(thrown).message));
    }
  }

  function ping(): void {
    // Pongs are not read while the session does not run.
    if (!isAlive && reading.isReading()) return socket.terminate();
    isAlive = !reading.isReading();
    socket.ping();
    cancelPing = deps.clock.alarm(PING_EVERY_MS, ping);
  }

  socket.on('pong', () => {
    isAlive = true;
  });
  socket.on('message', (data, isBinary) => take(() => turn.add({ data, isBinary })));
  socket.on('error', () => socket.terminate());
  socket.on('close', () => finish(CLOSE.done, ''));
  stopping.addEventListener('abort', stop, { once: true });
  cancelPing = deps.clock.alarm(PING_EVERY_MS, ping);
  show(socket, wish, means, over.signal).then(
    () => finish(CLOSE.done, 'The session has ended.'),
    (thrown) => finish(CLOSE.broken, deps.redactText(Fault.from(thrown).message)),
  );
}
