// Many readers of one output, in a process of their own, so that they do not hold up who measures. Some read as fast as
// they can, some slowly, some not at all until they are told to. Prints one line when all have an answer, one when the
// fast ones are through, and the bytes of each when all are.
import { Agent, request } from 'node:http';

const { port, token, path, counts } = JSON.parse(process.argv[2] ?? '{}');
const SLOW_EVERY_MS = 50;
const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
let isHeld = true;

function follow(pace) {
  const reader = { pace, bytes: 0 };
  reader.answered = new Promise((resolve, reject) => {
    const headers = { host: `127.0.0.1:${port}`, authorization: `Bearer ${token}` };
    const call = request({ host: '127.0.0.1', port, path, agent, headers }, (reply) => {
      reader.ended = new Promise((over) => reply.once('end', over).once('error', over));
      const count = (piece) => {
        reader.bytes += piece.length;
      };
      if (pace === 'fast') reply.on('data', count);
      else reader.resume = () => reply.on('data', count);
      if (pace === 'slow') sip(reply, reader);
      resolve();
    });
    call.once('error', reject).end();
  });
  return reader;
}

/** One piece at a time, with a rest after each. */
function sip(reply, reader) {
  const piece = isHeld ? reply.read() : null;
  if (piece) reader.bytes += piece.length;
  if (isHeld) setTimeout(sip, SLOW_EVERY_MS, reply, reader);
}

const readers = Object.entries(counts).flatMap(([pace, count]) => Array.from({ length: count }, () => follow(pace)));
await Promise.all(readers.map(({ answered }) => answered));
console.log('answered');
await Promise.all(readers.map(({ pace, ended }) => pace === 'fast' && ended));
console.log('fast');
await new Promise((resolve) => process.stdin.once('data', resolve));
isHeld = false;
for (const { resume } of readers) resume?.();
await Promise.all(readers.map(({ ended }) => ended));
console.log(JSON.stringify([...new Set(readers.map(({ bytes }) => bytes))]));
process.exit(0);
