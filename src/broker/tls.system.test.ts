// Agents over TLS, through the very front that the server has, directly and by way of a standby.
import { createPrivateKey } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { credentials } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { systemRandom } from '#core/random.ts';
import { untilHolds } from '#core/testing/until.ts';
import { type CertificateUse, makeCertificate, newKey } from '../access/certificate.ts';
import { type Front, openFront } from '../edge/front.ts';
import { openConnections } from '../edge/open-connections.ts';
import { clientTo, type FakePlane, type FakePlaneOptions, openFakeAgent, openFakePlane } from './testing.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

interface Pair {
  readonly key: string;
  readonly cert: string;
}

const caKey = newKey();
const signer = { name: 'CA', key: createPrivateKey(caKey) };
const always = { fromMs: Date.UTC(2020, 0), untilMs: Date.UTC(2090, 0) };
function certificate(name: string, use: CertificateUse, by = signer, span = always): Pair {
  const key = use === 'authority' ? caKey : newKey();
  const request = { name, use, addresses: ['localhost'], ...span, serial: systemRandom.bytes(16) };
  return { key, cert: makeCertificate(request, createPrivateKey(key), by) };
}
const ca = certificate('CA', 'authority').cert;

async function aFront(holder?: Front): Promise<Front> {
  const address = '127.0.0.1:0';
  const front = await openFront({
    http: address,
    grpc: address,
    peer: address,
    secret: 'open sesame',
    holder: () => holder && { address: `127.0.0.1:${holder.peer?.port}`, secret: 'open sesame' },
    connections: openConnections({ mostOfAddress: 256, trustedProxies: [], clock: systemClock, log: silentLog }),
    clock: systemClock,
    log: silentLog,
  });
  open.push(front);
  return front;
}

async function aSecuredPlane(
  options: FakePlaneOptions = {},
): Promise<{ plane: FakePlane; front: Front; standby: Front }> {
  const plane = await openFakePlane(options);
  open.push(plane);
  const front = await aFront();
  const { key, cert } = certificate('broker', 'server');
  const grpc = plane.broker.listener({ key, certificate: cert, clientCa: ca });
  front.serve({ http: (socket) => socket.destroy(), grpc });
  return { plane, front, standby: await aFront(front) };
}

function anAgent(front: Front, pair?: Pair, trusted = ca) {
  const pem = (text?: string): Buffer | null => (text === undefined ? null : Buffer.from(text));
  const secured = credentials.createSsl(pem(trusted), pem(pair?.key), pem(pair?.cert));
  const agent = openFakeAgent(clientTo({ port: front.addresses.grpc.port }, secured));
  open.push(agent);
  agent.say({ agentIdentity: { agentId: 'a1', pool: 'p' } });
  return agent;
}

async function proofOf(plane: FakePlane, front: Front, pair?: Pair) {
  const agent = anAgent(front, pair);
  await untilHolds(() => expect(agent.answers).toHaveLength(1));
  return plane.hellos.at(-1)?.proof;
}

test('a secured connection serves, and a client certificate of our own CA names its bearer', async () => {
  const { plane, front, standby } = await aSecuredPlane();

  for (const door of [front, standby]) {
    expect(await proofOf(plane, door)).toMatchObject({ peerAddress: '127.0.0.1', certificateName: undefined });
    expect(await proofOf(plane, door, certificate('m-1', 'client'))).toMatchObject({ certificateName: 'm-1' });
  }
});

test('a standby forwards plain connections too, and their clients keep their address', async () => {
  const plane = await openFakePlane();
  open.push(plane);
  const front = await aFront();
  front.serve({ http: (socket) => socket.destroy(), grpc: plane.broker.listener() });
  const standby = await aFront(front);
  const agent = openFakeAgent(clientTo({ port: standby.addresses.grpc.port }));
  open.push(agent);
  agent.say({ agentIdentity: { agentId: 'a1', pool: 'p' } });

  await untilHolds(() => expect(agent.answers).toHaveLength(1));

  expect(plane.hellos.at(-1)?.proof).toMatchObject({ peerAddress: '127.0.0.1' });
});

const stranger = { name: 'CA', key: createPrivateKey(newKey()) };
const past = { fromMs: Date.UTC(2020, 0), untilMs: Date.UTC(2021, 0) };

test.each<[string, Pair]>([
  ['of someone else', certificate('m-1', 'client', stranger)],
  ['that our CA signed for a server', certificate('m-1', 'server')],
  ['that has expired', certificate('m-1', 'client', signer, past)],
])('a certificate %s opens no door', async (_, pair) => {
  const { plane, front } = await aSecuredPlane();

  expect(await anAgent(front, pair).ended).toMatchObject({ code: 14 });
  // Nor does it where the client comes back with its session of TLS.
  expect(await anAgent(front, pair).ended).toMatchObject({ code: 14 });
  expect(plane.hellos).toEqual([]);
});

test('a renewed certificate is shown to those who come later, and leaves open connections alone', async () => {
  const { plane, front } = await aSecuredPlane();
  const early = anAgent(front);
  await untilHolds(() => expect(early.answers).toHaveLength(1));
  const other = { name: 'CA', key: createPrivateKey(newKey()) };
  const { key, cert } = certificate('broker', 'server', other);

  front.serve({ http: (socket) => socket.destroy(), grpc: plane.broker.listener({ key, certificate: cert }) });

  expect(await anAgent(front).ended).toMatchObject({ code: 14 });
  plane.link.send('a1', { do: 'kill', session: 's1', force: true, graceMs: 0 });
  await untilHolds(() => expect(early.answers).toHaveLength(2));
});

test('the address of a client that a standby passed on is that which the edge knows', async () => {
  const { plane, front } = await aSecuredPlane({ clientAddress: () => '::ffff:192.0.2.7' });

  expect(await proofOf(plane, front)).toMatchObject({ peerAddress: '192.0.2.7' });
});

test('an agent that trusts another CA does not come in', async () => {
  const { plane, front } = await aSecuredPlane();
  const other = certificate('X', 'authority', { name: 'X', key: createPrivateKey(newKey()) }).cert;

  expect(await anAgent(front, undefined, other).ended).toMatchObject({ code: 14 });
  expect(plane.hellos).toEqual([]);
});

/** A way to the front on which the first byte travels alone. */
async function aSlowWay(front: Front): Promise<Front> {
  const server = createServer(async (client) => {
    const onward = connect({ port: front.addresses.grpc.port, host: '127.0.0.1', noDelay: true });
    onward.pipe(client).on('error', () => onward.destroy());
    const first: Buffer = await new Promise((resolve) => client.once('data', resolve));
    client.pause();
    onward.write(first.subarray(0, 1));
    await systemClock.sleep(50);
    onward.write(first.subarray(1));
    client.pipe(onward).on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(server);
  const { port } = server.address() as { port: number };
  return { ...front, addresses: { ...front.addresses, grpc: { host: '127.0.0.1', port } } };
}

test('a handshake may come in pieces', async () => {
  const { plane, front } = await aSecuredPlane();

  const proof = await proofOf(plane, await aSlowWay(front), certificate('m-1', 'client'));

  expect(proof).toMatchObject({ certificateName: 'm-1' });
});

test('a connection that ends without a byte is closed', async () => {
  const { front } = await aSecuredPlane();
  const socket = connect({ port: front.addresses.grpc.port, host: '127.0.0.1', allowHalfOpen: true });
  const ended = new Promise((resolve) => socket.resume().once('end', () => resolve('ended')));

  socket.end();

  expect(await ended).toBe('ended');
  socket.destroy();
});
