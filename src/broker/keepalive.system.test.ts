import { connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { untilHolds } from '#core/testing/until.ts';
import { clientTo, type FakePlane, openFakeAgent, openFakePlane } from './testing.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A network between agent and broker that can fall silent without closing anything. */
async function aNetwork(plane: FakePlane): Promise<{ port: number; fallSilent(): void }> {
  const ends: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(plane.port, '127.0.0.1');
    for (const socket of [near, far]) socket.on('error', () => {});
    near.pipe(far);
    far.pipe(near);
    ends.push(near, far);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close() {
      server.close();
      for (const socket of ends) socket.destroy();
    },
  });
  const { port } = server.address() as { port: number };
  return {
    port,
    fallSilent() {
      for (const socket of ends) socket.unpipe().pause();
    },
  };
}

test('an agent that falls silent is found by pings, though its connection never closes', async () => {
  // Long enough for the answer of an agent that gets little processor time.
  const plane = await openFakePlane({ pingEveryMs: 50, pingTimeoutMs: 2_000 });
  open.push(plane);
  const network = await aNetwork(plane);
  const agent = openFakeAgent(clientTo(network));
  open.push(agent);
  agent.say({ agentIdentity: { agentId: 'a1', pool: 'p' }, musterHello: {} });
  await untilHolds(() => expect(agent.answers).toHaveLength(1));

  network.fallSilent();

  await untilHolds(() => expect(plane.left).toEqual([{ name: 'a1', epoch: 1 }]));
  expect(plane.broker.connectedAgents).toBe(0);
});
