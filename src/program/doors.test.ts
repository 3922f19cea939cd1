import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { issueServerIdentity, newAuthority } from '#access/tls.ts';
import { DAY_MS } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { keepLocks } from './doors.ts';
import { packForOthers, warnOfLocalPools } from './holding.ts';

const folder = mkdtempSync(join(tmpdir(), 'muster-locks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Doors beyond loopback with a certificate of the operator, and all that is said and shown. */
function open() {
  const clock = new VirtualClock();
  const means = { clock, random: seededRandom(1) };
  const authority = newAuthority(means);
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const renew = (): string => {
    const { certificate, key: secret } = issueServerIdentity(authority, [], means);
    writeFileSync(cert, certificate);
    writeFileSync(key, secret);
    return certificate;
  };
  const first = renew();
  const shown: unknown[] = [];
  const said: string[] = [];
  const address = { host: '0.0.0.0', port: 1 };
  const ground = {
    front: {
      addresses: { http: address, grpc: address },
      serve: (_: unknown, locks: { http?: { certificate: string } }) => void shown.push(locks.http?.certificate),
    },
    loaded: { config: { tls: { cert, key } } },
    clock,
    log: (level: string, message: string) => void said.push(`${level} ${message}`),
  };
  const access = { ca: { certificate: authority.certificate } };
  const stop = keepLocks(ground as never, { access } as never, { names: [], serve: {} as never });
  return { clock, cert, first, shown, said, renew, stop };
}

it('a certificate that expires does not end the server, and its successor is taken up by itself', async () => {
  const { clock, first, shown, said, renew, stop } = open();

  await clock.advance(397.5 * DAY_MS);
  const next = renew();
  await clock.advance(60_000);
  stop();

  expect(said).toContain('error certificate not renewed, keeping the previous one');
  expect(new Set(shown)).toEqual(new Set([first, next]));
});

it('a certificate that is just being replaced is looked at again', async () => {
  const { clock, cert, shown, renew, stop } = open();
  writeFileSync(cert, '');

  await clock.advance(200 * DAY_MS);
  const next = renew();
  await clock.advance(60_000);
  stop();

  expect(shown.at(-1)).toBe(next);
});

it.each([
  ['0.0.0.0', 1],
  ['127.0.0.1', 0],
])('a server on %s packs the agent %i times before anyone asks for it', (host, times) => {
  let packed = 0;
  const address = { host, port: 1 };
  const offer = async (): Promise<void> => void packed++;

  const installer = { offer, offered: () => [] };
  packForOthers({ front: { addresses: { http: address, grpc: address } }, installer, log: silentLog } as never);

  expect(packed).toBe(times);
});

it.each([
  ['0.0.0.0', [['local']]],
  ['127.0.0.1', []],
])('a server on %s says whose files the sessions of its own machine can read', (host, warned) => {
  const said: unknown[] = [];
  const pool = (name: string, kind: string, config = {}) => ({ spec: { name, offers: [{ kind, config }] } });
  const runsAsOther = ({ user }: { user?: string }) => user !== undefined;
  const address = { host, port: 1 };

  warnOfLocalPools({
    front: { addresses: { http: address, grpc: address } },
    kinds: { backends: { process: { isLocal: true, runsAsOther }, cloud: {} } },
    loaded: {
      config: { pools: [pool('local', 'process'), pool('apart', 'process', { user: 'ada' }), pool('far', 'cloud')] },
    },
    log: (_level: string, _message: string, fields: { pools: unknown }) => said.push(fields.pools),
  } as never);

  expect(said).toEqual(warned);
});
