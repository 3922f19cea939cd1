import { networkInterfaces } from 'node:os';
import type { Listen } from '#config/server-fields.ts';
import type { ServerConfig } from '#config/server-file.ts';
import { type Address, formatAddress, isLoopback } from '../edge/address.ts';

export const toAddress = ({ host, port }: Listen): Address => ({ host: host ?? '', port });

const isEveryInterface = (host: string): boolean => host === '' || host === '0.0.0.0' || host === '::';

/** Every address of this machine that others can reach. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal }) => !internal)
    .map(({ address }) => address);
}

/** How others on the network name what listens there. */
export function reachable({ host, port }: Address): string {
  const [own = '127.0.0.1'] = ownAddresses();
  return formatAddress({ host: isEveryInterface(host) ? own : host, port });
}

/** Beyond loopback, others could read the traffic. */
export const needsTls = ({ host }: Address): boolean => isEveryInterface(host) || !isLoopback(host);

/** Every address at which new agents find the broker, in the order in which they try them. */
export function brokerAddresses(
  { broker }: ServerConfig,
  grpc: Address,
): readonly [first: string, ...others: string[]] {
  const first = broker.address ?? `${needsTls(grpc) ? 'https' : 'http'}://${reachable(grpc)}`;
  const others = new Set([...broker.addresses, ...broker.publicAddress]);
  others.delete(first);
  return [first, ...others];
}

/** Every name and address that a certificate of this server must hold, and that the Host header may. */
export function serverNames(config: ServerConfig, listening: readonly Address[]): string[] {
  const named = listening.map(({ host }) => host).filter((host) => !isEveryInterface(host));
  const others = listening.some(({ host }) => isEveryInterface(host)) ? ownAddresses() : [];
  const { publicUrl, allowedHosts } = config.access;
  const outside = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
  return [...new Set([...named, ...others, ...outside, ...allowedHosts, 'localhost', '127.0.0.1', '::1'])];
}

/** Scheme, host and port of all that clients of this server may call it by: the only places for the token that it leaves on disk. */
export function clientOrigins(config: ServerConfig, http: Address): string[] {
  const { publicUrl } = config.access;
  const scheme = needsTls(http) ? 'https' : 'http';
  // Without TLS nothing proves that a name leads to this server.
  const hosts = needsTls(http) ? serverNames(config, [http]).filter((host) => host !== 'localhost') : [http.host];
  const own = hosts.map((host) => URL.parse(`${scheme}://${formatAddress({ host, port: http.port })}`)?.origin);
  const all = [...own, publicUrl === undefined ? undefined : new URL(publicUrl).origin];
  return [...new Set(all.filter((origin) => origin !== undefined))];
}
