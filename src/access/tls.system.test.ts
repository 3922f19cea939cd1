import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type PeerCertificate, type TLSSocket } from 'node:tls';
import { expect, it } from 'vitest';
import { systemClock as clock } from '#core/clock.ts';
import { systemRandom as random } from '#core/random.ts';
import { issueClient, issueServerIdentity, type KeyPair, newAuthority } from './tls.ts';

const means = { clock, random };

/** What a TLS 1.3 server with our certificates says to a client, over a real socket. */
async function handshake(authority: KeyPair, client: KeyPair | undefined, trusted: string, servername = 'localhost') {
  const identity = issueServerIdentity(authority, [], means);
  const { key, certificate: cert } = identity;
  const server = createServer({ key, cert, ca: authority.certificate, requestCert: true, rejectUnauthorized: false });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>;
  accepted.catch(() => {});
  const { port } = server.address() as AddressInfo;
  const shown = client ? { key: client.key, cert: client.certificate } : {};
  const socket = connect({ port, host: '127.0.0.1', ca: trusted, servername, ...shown });
  try {
    await once(socket, 'secureConnect');
    const [peer] = await accepted;
    const name = (peer.getPeerCertificate() as Partial<PeerCertificate>).subject?.CN;
    return { protocol: socket.getProtocol(), isClientTrusted: peer.authorized, name };
  } catch (thrown) {
    return { error: (thrown as NodeJS.ErrnoException).code };
  } finally {
    socket.destroy();
    server.close();
  }
}

it('a real handshake trusts our authority in both directions and names the agent', async () => {
  const authority = newAuthority(means);
  const client = issueClient(authority, 'm-gpu-1', means);

  const met = await handshake(authority, client, authority.certificate);

  expect(met).toEqual({ protocol: 'TLSv1.3', isClientTrusted: true, name: 'm-gpu-1' });
});

it('a handshake fails against another authority and under a name that is not ours', async () => {
  const authority = newAuthority(means);
  const other = newAuthority(means);

  const untrusted = await handshake(authority, undefined, other.certificate);
  const misnamed = await handshake(authority, undefined, authority.certificate, 'evil.example.org');

  expect(untrusted.error).toMatch(/SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_SIGNATURE_FAILURE/);
  expect(misnamed.error).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
});

it('client certificates of another authority, and server certificates, do not pass for an agent', async () => {
  const authority = newAuthority(means);
  const foreign = issueClient(newAuthority(means), 'm-gpu-1', means);
  const server = issueServerIdentity(authority, [], means);

  const byForeign = await handshake(authority, foreign, authority.certificate);
  const byServer = await handshake(authority, server, authority.certificate);

  expect(byForeign.isClientTrusted).toBe(false);
  expect(byServer.isClientTrusted).toBe(false);
});
