import { afterEach, expect, test } from 'vitest';
import { untilHolds } from '#core/testing/until.ts';
import { HELLO, PING, rawClient, request, serveHttp2 } from './testing.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A client, and what the server does a moment later. */
async function connected() {
  const later: (() => void)[] = [];
  let frames = 0;
  const server = await serveHttp2({
    later: (run) => void later.push(run),
    taken: () => {
      frames += 1;
    },
  });
  const client = rawClient(server.port);
  open.push(server, { close: () => client.socket.destroy() });
  client.say(HELLO);
  // Its settings, and that it has read ours.
  await untilHolds(() => expect(client.socket.bytesRead).toBe(30));
  return { later, client, server, taken: () => frames };
}

test('the answer to a ping leaves a moment later', async () => {
  const { client, later } = await connected();
  client.say(PING, PING);
  await untilHolds(() => expect(later).toHaveLength(1));
  expect(client.heard()).toEqual([]);

  later[0]?.();

  await untilHolds(() => expect(client.heard()).toEqual(['ping 0 ack', 'ping 0 ack']));
});

test('the answer to a ping leaves with the next frame, and not once more', async () => {
  const { client, later, server } = await connected();
  client.say(PING);
  await untilHolds(() => expect(later).toHaveLength(1));

  server.connections[0]?.widen(0, 1);
  await untilHolds(() => expect(client.heard()).toEqual(['ping 0 ack', 'windowUpdate 0 1']));
  later[0]?.();
  server.connections[0]?.widen(0, 2);

  await untilHolds(() => expect(client.heard().slice(2)).toEqual(['windowUpdate 0 2']));
});

test('many pings are answered at once', async () => {
  const { client, taken } = await connected();

  client.say(...Array<Buffer>(17).fill(PING), request(1));

  await untilHolds(() => expect([client.heard().length, taken()]).toEqual([17, 1]));
});
