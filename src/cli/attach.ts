import type { ReadStream, WriteStream } from 'node:tty';
import WebSocket from 'ws';
import { Fault } from '#core/fault.ts';
import type { AttachIn, AttachOut, Session } from '../api/wire/session.ts';
import type { Client } from './client.ts';
import type { Cli } from './command.ts';
import { isInteractive } from './terminal.ts';

/** The size of the terminal we run in, for the one that the session gets. */
export function terminalSize(cli: Cli): { columns: number; rows: number } {
  const output = cli.terminal.output as unknown as Partial<WriteStream>;
  return { columns: output.columns ?? 80, rows: output.rows ?? 24 };
}

function open(client: Client, id: string): WebSocket {
  const url = new URL(`/api/v1/sessions/${id}/attach`, client.place.address);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return new WebSocket(url, { headers: { authorization: `Bearer ${client.place.token}` } });
}

function feedInput(cli: Cli, socket: WebSocket): () => void {
  const { input } = cli.terminal;
  const terminal = isInteractive(input) ? (input as unknown as ReadStream) : undefined;
  const say = (message: AttachIn): void => socket.send(JSON.stringify(message));
  const onData = (data: Buffer): void => socket.send(data, { binary: true });
  const onEnd = (): void => say({ eof: true });
  const onResize = (): void => say({ resize: terminalSize(cli) });
  terminal?.setRawMode(true);
  input.on('data', onData);
  input.on('end', onEnd);
  input.resume();
  cli.terminal.output.on('resize', onResize);
  return () => {
    terminal?.setRawMode(false);
    input.off('data', onData);
    input.off('end', onEnd);
    input.pause();
    cli.terminal.output.off('resize', onResize);
  };
}

/** Connects this terminal with the session until it ends; resolves with the ended session. */
export async function attachSession(cli: Cli, client: Client, id: string): Promise<Session> {
  const socket = open(client, id);
  let stopInput = (): void => {};
  try {
    return await new Promise<Session>((resolve, reject) => {
      socket.on('open', () => {
        stopInput = feedInput(cli, socket);
      });
      socket.on('message', (data) => {
        const message = JSON.parse(data.toString()) as AttachOut;
        if ('end' in message) return resolve(message.end);
        const stream = message.output.stream === 'stderr' ? cli.terminal.errors : cli.terminal.output;
        stream.write(Buffer.from(message.output.data, 'base64'));
      });
      socket.on('error', (error) =>
        reject(new Fault('unavailable', `The connection failed: ${error.message}.`, { cause: error })),
      );
      socket.on('close', (_code, reason) => {
        const remedy = `See it with \`muster session show ${id}\`.`;
        reject(
          new Fault(
            'unavailable',
            `The connection ended${reason.length > 0 ? `: ${reason}` : ''}; the session goes on.`,
            { remedy },
          ),
        );
      });
    });
  } finally {
    stopInput();
    socket.close();
  }
}
