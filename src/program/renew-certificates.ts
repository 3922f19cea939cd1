import type { ServerIdentity } from '#access/tls.ts';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { ServerContext } from './holder.ts';
import { identityOf } from './identity.ts';
import type { Plane } from './plane.ts';

interface Renewal {
  readonly names: readonly string[];
  /** Called at once, and with each certificate that follows. */
  show(identity: ServerIdentity): void;
}

/** Keeps the certificate of both ports current: a new one is read or made at half of its time. The answer stops that. */
export function renewCertificates(
  { loaded, clock, log }: Pick<ServerContext, 'loaded' | 'clock' | 'log'>,
  { access }: Pick<Plane, 'access'>,
  { names, show }: Renewal,
): () => void {
  let cancel = (): void => {};

  function showNext(): void {
    const identity = identityOf(loaded.config, access, { names, clock });
    show(identity);
    cancel = clock.alarm(Math.max(HOUR_MS, (identity.untilMs - clock.now()) / 2), renew);
  }

  /** A file that is being replaced, or an expired certificate, must not stop the server: it retries. */
  function renew(): void {
    try {
      showNext();
    } catch (thrown) {
      log('error', 'certificate not renewed, keeping the previous one', { error: Fault.from(thrown).message });
      cancel = clock.alarm(MINUTE_MS, renew);
    }
  }

  showNext();
  return () => cancel();
}
