import { createPrivateKey } from 'node:crypto';
import { createServer } from 'node:tls';
import { credentials } from '@grpc/grpc-js';
import { afterEach, expect, test, vi } from 'vitest';
import { systemRandom } from '#core/random.ts';
import { type CertificateUse, makeCertificate, newKey } from '../access/certificate.ts';
import { clientTo, type FakePlane, openFakeAgent, openFakePlane } from './fake-plane.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const [fromMs, untilMs] = [Date.UTC(2020, 0), Date.UTC(2090, 0)];
const caKey = newKey();
const signer = { name: 'CA', key: createPrivateKey(caKey) };
function certificate(name: string, use: CertificateUse, by = signer): { key: Buffer; cert: Buffer } {
  const key = use === 'authority' ? caKey : newKey();
  const request = { name, use, addresses: ['localhost'], fromMs, untilMs, serial: systemRandom.bytes(16) };
  return { key: Buffer.from(key), cert: Buffer.from(makeCertificate(request, createPrivateKey(key), by)) };
}

const ca = certificate('CA', 'authority').cert;

async function aSecuredPlane(): Promise<FakePlane> {
  const pair = certificate('broker', 'server');
  // Never listens: it only shakes hands, as a socket made by hand would not tell whether its peer is verified.
  const handshake = createServer({ ...pair, ca, requestCert: true, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  const plane = await openFakePlane({ secure: (socket) => void handshake.emit('connection', socket) });
  handshake.on('secureConnection', plane.broker.accept);
  open.push(plane);
  return plane;
}

async function proofOf(plane: FakePlane, pair?: { key: Buffer; cert: Buffer }) {
  const agent = openFakeAgent(clientTo(plane, credentials.createSsl(ca, pair?.key ?? null, pair?.cert ?? null)));
  open.push(agent);
  agent.say({ agentIdentity: { agentId: 'a1', pool: 'p' } });
  await vi.waitFor(() => expect(agent.answers).toHaveLength(1), { interval: 5, timeout: 10_000 });
  return plane.hellos.at(-1)?.proof;
}

test('a secured connection serves, and a client certificate of our own CA names its bearer', async () => {
  const plane = await aSecuredPlane();

  expect(await proofOf(plane)).toMatchObject({ peerAddress: '127.0.0.1', certificateName: undefined });
  expect(await proofOf(plane, certificate('m-gpu-1', 'client'))).toMatchObject({ certificateName: 'm-gpu-1' });
});

test('a certificate of someone else names nobody', async () => {
  const plane = await aSecuredPlane();
  const stranger = { name: 'CA', key: createPrivateKey(newKey()) };

  expect(await proofOf(plane, certificate('m-gpu-1', 'client', stranger))).toMatchObject({
    certificateName: undefined,
  });
});

test('an agent that trusts another CA does not come in', async () => {
  const plane = await aSecuredPlane();
  const other = credentials.createSsl(
    Buffer.from(
      makeCertificate({ name: 'X', use: 'authority', fromMs, untilMs, serial: systemRandom.bytes(16) }, signer.key, {
        name: 'X',
        key: createPrivateKey(newKey()),
      }),
    ),
  );
  const agent = openFakeAgent(clientTo(plane, other));
  open.push(agent);

  agent.say({ agentIdentity: { agentId: 'a1', pool: 'p' } });

  expect(await agent.ended).toMatchObject({ code: 14 });
  expect(plane.hellos).toEqual([]);
});
