import { connect, createServer, type Socket } from 'node:net';

/** A way to a server that can be cut, held up, or made to lose an answer. */
export interface TestProxy {
  readonly port: number;
  /** Ends every connection; new ones may be made. */
  cut(): void;
  /** Lets nothing through any more, and ends nothing: the network has swallowed it. */
  silence(): void;
  /** The next question that contains this text reaches the server; its answer is lost with the connection. */
  loseAnswerTo(text: string): void;
  /** All connections end in place of the packet of a client with this number, counted from now, the first one is 0. */
  cutAt(packet: number): void;
  close(): Promise<void>;
}

export async function startProxy(upstreamPort: number, port = 0): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  let lostText: string | undefined;
  let packets = 0;
  let cutPacket = Number.POSITIVE_INFINITY;

  const server = createServer((client) => {
    const upstream = connect(upstreamPort, '127.0.0.1');
    let losesAnswer = false;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => {
      if (isSilent) return;
      if (packets >= cutPacket) return cut();
      packets += 1;
      if (lostText !== undefined && bytes.includes(lostText)) {
        losesAnswer = true;
        lostText = undefined;
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (losesAnswer) end();
      else if (!isSilent) client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();

  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    cutAt(packet) {
      packets = 0;
      cutPacket = packet;
    },
    port: typeof address === 'object' && address ? address.port : 0,
    cut,
    silence() {
      isSilent = true;
    },
    loseAnswerTo(text) {
      lostText = text;
    },
    close() {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
