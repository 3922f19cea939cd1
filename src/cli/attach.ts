import type { ReadStream } from 'node:tty';
import WebSocket from 'ws';
import { Fault } from '#core/fault.ts';
import type { AttachIn, AttachOut, Session } from '../api/wire/session.ts';
import type { Client } from './client.ts';
import type { Cli } from './command.ts';
import { isPast, type Position, START, sessionPath } from './follow.ts';
import { writeThrough } from './output.ts';
import { patiently } from './patience.ts';
import { onRefusal, socketTo } from './socket.ts';
import { isInteractive, sizeOf } from './terminal.ts';

export interface Attaching {
  readonly session: Session;
  /** Called when the session runs. */
  begun(): void;
}

// Input that waits here rather than in the network would fill the memory.
const MOST_WAITING_BYTES = 1024 * 1024;
const LOOK_EVERY_MS = 100;
// RFC 6455 §7.4.1: we broke a rule; asking again would break it again.
const REFUSED = 1008;
// The server pings every 20 s: without any message for this long, the connection is dead.
const SILENCE_MS = 60_000;

const isTyped = ({ terminal }: Cli): boolean => isInteractive(terminal.input);

/** Only a running session receives Ctrl-C and end of input; before that this command handles them. */
async function waitForStart(cli: Cli, client: Client, id: string): Promise<void> {
  for (;;) {
    const session = await patiently(cli, () => client.call<Session>(sessionPath(id), { signal: cli.signal }));
    if (session.started_at !== undefined || session.end) return;
    await cli.terminal.clock.sleep(LOOK_EVERY_MS, cli.signal);
  }
}

function open(client: Client, id: string, { attempt, seq }: Position): WebSocket {
  const query = attempt > 0 ? `?${new URLSearchParams({ attempt: `${attempt}`, after_seq: `${seq}` })}` : '';
  return socketTo(client, `${sessionPath(id)}/attach${query}`);
}

// If a program sets up its terminal late, an earlier end of input is lost, and the program waits for ever.
const SETUP_MS = 1_000;

/** Resolves when the program reads its terminal: after its first output, or after one second. */
function setUp({ terminal }: Cli, socket: WebSocket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = terminal.clock.alarm(SETUP_MS, resolve);
  socket.once('message', () => resolve());
  socket.once('close', cancel);
  return promise;
}

/** Sends stdin and the window size; the returned function ends that. */
function feedInput(cli: Cli, socket: WebSocket, session: Session): () => void {
  if (!session.stdin) return () => {};
  const { input, output } = cli.terminal;
  // With a remote terminal, local keys are sent raw: the remote terminal interprets them.
  const terminal = session.terminal && isTyped(cli) ? (input as unknown as ReadStream) : undefined;
  const say = (message: AttachIn): void => socket.send(JSON.stringify(message));
  const resume = (): void => {
    if (socket.bufferedAmount < MOST_WAITING_BYTES && input.isPaused()) input.resume();
  };
  const onData = (data: Buffer): void => {
    socket.send(data, { binary: true }, resume);
    if (socket.bufferedAmount >= MOST_WAITING_BYTES) input.pause();
  };
  const isListening = session.terminal ? setUp(cli, socket) : Promise.resolve();
  const onEnd = (): void =>
    void isListening.then(() => {
      if (socket.readyState === WebSocket.OPEN) say({ eof: true });
    });
  const onResize = (): void => say({ resize: sizeOf(cli.terminal) });
  terminal?.setRawMode(true);
  input.on('data', onData);
  input.on('end', onEnd);
  input.resume();
  output.on('resize', onResize);
  // Another client may have resized it, and our window may have changed while we were disconnected.
  if (terminal) onResize();
  return () => {
    terminal?.setRawMode(false);
    input.off('data', onData);
    input.off('end', onEnd);
    input.pause();
    output.off('resize', onResize);
  };
}

const broken = (message: string, cause?: unknown): Fault => new Fault('unavailable', message, { cause });

/** Closes a connection without traffic; the returned function ends that. */
function cutWhenSilent({ terminal }: Cli, socket: WebSocket): () => void {
  let cancel = (): void => {};
  const listen = (): void => {
    cancel();
    cancel = terminal.clock.alarm(SILENCE_MS, () => socket.terminate());
  };
  for (const sign of ['open', 'ping', 'message']) socket.on(sign, listen);
  listen();
  return () => {
    for (const sign of ['open', 'ping', 'message']) socket.off(sign, listen);
    cancel();
  };
}

interface Wiring {
  readonly client: Client;
  readonly session: Session;
  readonly socket: WebSocket;
  /** Resolves with the session when it has ended. */
  heard(message: AttachOut): Session | undefined;
}

/** One connection until the session ends. */
async function connect(cli: Cli, { client, session, socket, heard }: Wiring): Promise<Session> {
  let stopInput = (): void => {};
  const stopListening = cutWhenSilent(cli, socket);
  const { promise, resolve, reject } = Promise.withResolvers<Session>();
  const leave = (): void => reject(broken('Interrupted.'));
  cli.signal.addEventListener('abort', leave, { once: true });
  socket.on('open', () => {
    stopInput = feedInput(cli, socket, session);
  });
  onRefusal(client, socket, reject);
  socket.on('message', (data) => {
    const ended = heard(JSON.parse(data.toString()) as AttachOut);
    if (ended) resolve(ended);
  });
  socket.on('error', (error) => reject(broken(`The connection failed: ${error.message}.`, error)));
  socket.on('close', (code, reason) =>
    reject(code === REFUSED ? new Fault('denied', `${reason}`) : broken('Lost the connection to the server.')),
  );
  try {
    return await promise;
  } finally {
    cli.signal.removeEventListener('abort', leave);
    stopInput();
    stopListening();
    socket.close();
  }
}

/**
 * Connects this terminal with the session until it ends; resolves with the ended session. It reconnects after a
 * lost connection, but not with piped input: how much of that arrived is unknown.
 */
export async function attachSession(cli: Cli, client: Client, { session, begun }: Attaching): Promise<Session> {
  const { id } = session;
  const write = writeThrough(cli.terminal);
  let position = START;
  const heard = (message: AttachOut): Session | undefined => {
    begun();
    if ('end' in message) return message.end;
    if (isPast(message.output, position)) write(message.output);
    position = { attempt: message.output.attempt, seq: message.output.seq };
    return undefined;
  };
  if (session.terminal) await waitForStart(cli, client, id);
  if (isTyped(cli) || !session.stdin) {
    return patiently(cli, (alive) => {
      const socket = open(client, id, position);
      socket.on('open', alive);
      return connect(cli, { client, session, socket, heard });
    });
  }
  try {
    return await connect(cli, { client, session, socket: open(client, id, position), heard });
  } catch (thrown) {
    const fault = Fault.from(thrown);
    const remedy = `The session may still run with a part of its input. Follow it with \`muster session logs -f ${id}\`.`;
    throw new Fault(fault.kind, fault.message, { remedy, cause: thrown });
  }
}
