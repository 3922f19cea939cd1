// A proxy as a process of its own. Every name leads to this machine: to the port that was asked for, or to that of its first
// argument. Prints a line for each request: `CONNECT host:port` or `GET http://host/path`, and the user agent it was shown.
import { createServer, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';

const [, , target] = process.argv;
const tell = ({ method, url, headers }: IncomingMessage): void =>
  void process.stdout.write(
    `${JSON.stringify({ method, url, agent: headers['user-agent'], proof: headers['proxy-authorization'] })}\n`,
  );

const server = createServer((asked, reply) => {
  tell(asked);
  const { port, pathname, search } = new URL(asked.url ?? '');
  const { method, headers } = asked;
  const onward = request({ port: Number(target ?? port), path: `${pathname}${search}`, method, headers }, (answer) => {
    reply.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(reply);
  });
  onward.on('error', () => reply.writeHead(502).end());
  asked.pipe(onward);
});
server.on('connect', (asked: IncomingMessage, socket) => {
  tell(asked);
  const port = Number(target ?? /:(\d+)$/.exec(asked.url ?? '')?.[1]);
  const onward = connect(port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    onward.pipe(socket);
    socket.pipe(onward);
  });
  onward.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  socket.on('error', () => onward.destroy());
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${JSON.stringify({ port: typeof address === 'object' ? address?.port : 0 })}\n`);
});
// It ends with the test that started it.
process.stdin.on('end', () => process.exit()).resume();
