import { isIP } from 'node:net';
import { Fault } from '#core/fault.ts';

export interface Address {
  /** Empty: every interface. */
  readonly host: string;
  readonly port: number;
}

/** Reads `127.0.0.1:8081`, `:50051`, `[::1]:8081` or `localhost:8081`. */
export function parseAddress(text: string): Address {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text.trim());
  const port = Number(match?.[3]);
  if (!match || port > 65_535) {
    throw new Fault('invalid', `"${text}" is not an address.`, {
      remedy: 'Write host:port, for example 127.0.0.1:8081.',
    });
  }
  return { host: match[1] ?? match[2] ?? '', port };
}

export function formatAddress({ host, port }: Address): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** A name that only begins like such an address, or an address with a zone, may lead anywhere. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return /^(::ffff:)?127\./.test(host) && isIP(host) !== 0 && !host.includes('%');
}
