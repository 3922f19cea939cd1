// The ways out of this process: all of them by the same proxies, and with our name.
import type { ServerReach } from '#core/cluster-access.ts';
import type { Context } from '#core/provider.ts';
import type { Unary } from '#core/unary.ts';
import { fetchWith } from './fetch-with.ts';
import type { ProxyFor } from './proxies.ts';
import { openUnary } from './unary.ts';

export interface OutboundOptions {
  /** Absent: nothing goes through a proxy. */
  readonly proxyFor: ProxyFor | undefined;
  /** `muster/0.1.0` */
  readonly userAgent: string;
}

export interface Outbound extends Pick<Context, 'fetch' | 'isDirect'> {
  readonly userAgent: string;
  fetchWith(reach: ServerReach): typeof fetch;
  readonly unary: Unary;
}

const NAME = 'user-agent';

/** Says who asks, where the caller does not. */
function named(fetchFrom: typeof fetch, userAgent: string): typeof fetch {
  return (input, init = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has(NAME)) headers.set(NAME, userAgent);
    return fetchFrom(input, { ...init, headers });
  };
}

export function openOutbound({ proxyFor, userAgent }: OutboundOptions): Outbound {
  return {
    fetch: named(proxyFor ? fetchWith({}, proxyFor) : fetch, userAgent),
    fetchWith: (reach) => named(fetchWith(reach, proxyFor), userAgent),
    unary: openUnary({ proxyFor, userAgent }),
    userAgent,
    ...(proxyFor ? {} : { isDirect: true as const }),
  };
}
