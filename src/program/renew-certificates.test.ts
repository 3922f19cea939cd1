import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { issueServerIdentity, newAuthority } from '#access/tls.ts';
import { DAY_MS } from '#core/clock.ts';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { renewCertificates } from './renew-certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'muster-certificates-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A server with a certificate of the operator, and all that is logged and shown. */
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
  const server = {
    loaded: { config: { tls: { cert, key } } },
    clock,
    log: (level: string, message: string) => void said.push(`${level} ${message}`),
  };
  const access = { ca: { certificate: authority.certificate } };
  const stop = renewCertificates(server as never, { access } as never, {
    names: [],
    show: ({ certificate }) => void shown.push(certificate),
  });
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
