import { readFileSync } from 'node:fs';
import type { Access } from '#access/access.ts';
import { ownIdentity, type ServerIdentity } from '#access/tls.ts';
import type { ServerConfig } from '#config/server-file.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';

function readPem(path: string, at: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    throw new Fault('invalid', `Cannot read ${path}: ${(thrown as NodeJS.ErrnoException).code}.`, {
      at,
      cause: thrown,
    });
  }
}

/** What clients must trust; undefined where the system's authorities know the certificate. */
export function trustedBy({ tls }: ServerConfig, access: Access): string | undefined {
  if (tls.cert === undefined) return access.ca.certificate;
  return tls.ca === undefined ? undefined : readPem(tls.ca, 'tls.ca');
}

/** What this server shows to clients by TLS: the operator's own certificate, or one of its own authority. */
export function identityOf(
  config: ServerConfig,
  access: Access,
  { names, clock }: { readonly names: readonly string[]; readonly clock: Clock },
): ServerIdentity {
  const { tls } = config;
  if (tls.cert === undefined || tls.key === undefined) return access.issueServerIdentity(names);
  const own = {
    certificate: readPem(tls.cert, 'tls.cert'),
    key: readPem(tls.key, 'tls.key'),
    ca: trustedBy(config, access),
  };
  return ownIdentity(own, clock);
}
