import { answered } from '#core/answer.ts';
import { type Clock, MINUTE_MS } from '#core/clock.ts';
import type { ClusterAccess, ClusterCredential } from '#core/cluster-access.ts';
import { openTokens, type Token } from './tokens.ts';

export interface RenewedAccessOptions {
  readonly clock: Clock;
  readonly server: string;
  readonly namespace?: string | undefined;
  /** The credential that was granted when the cluster was looked for. */
  readonly first?: Token<ClusterCredential> | undefined;
  /** Asks for a new credential; the signal ends when the access is closed. */
  renew(signal: AbortSignal): Promise<Token<ClusterCredential>>;
}

const WITHIN_MS = MINUTE_MS;

/** A cluster whose credential a cloud grants for a time: renewed before it expires, once for all who wait. */
export function openRenewedAccess(options: RenewedAccessOptions): ClusterAccess {
  const { clock, server, namespace, first } = options;
  const closing = new AbortController();
  const tokens = openTokens({ clock, first, renew: () => options.renew(closing.signal) });
  const patience = { clock, what: `The credential of ${server}`, withinMs: WITHIN_MS };
  let given: ClusterCredential | undefined;
  return {
    id: server,
    server,
    namespace,
    async credential(signal) {
      given = await answered(patience, signal, () => tokens.get());
      return given;
    },
    refused() {
      if (given) tokens.refused(given);
    },
    close: async () => closing.abort(),
  };
}
