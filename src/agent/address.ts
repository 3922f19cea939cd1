import { isIP } from 'node:net';
import { Fault } from '#core/fault.ts';

/** Address of the broker, and whether to use TLS. */
export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** The host as it was written, with the port only if one was: what proxies route by. */
  readonly authority: string;
}

const FORM = /^(?:(https?):\/\/)?(\[[^\]]+\]|[^:/[\]]+)(?::(\d{1,5}))?\/?$/i;

/** Reads `host:port`, `http://…` or `https://…`; with a trusted CA and no scheme, TLS is used. */
export function parseBrokerAddress(text: string, hasAuthority: boolean): BrokerAddress {
  const [, scheme, host = '', port] = FORM.exec(text.trim()) ?? [];
  const number = port === undefined ? undefined : Number(port);
  if (host === '' || number === 0 || (number ?? 1) > 65_535) {
    throw new Fault('invalid', `"${text}" is not a broker address.`, {
      at: 'broker.address',
      remedy: 'Write host:port, http://host:port or https://host:port.',
    });
  }
  if (scheme?.toLowerCase() === 'http' && hasAuthority) {
    throw new Fault('invalid', 'broker.ca is set, but the address begins with http.', {
      at: 'broker.address',
      remedy: 'Write https, or remove broker.ca.',
    });
  }
  const isSecure = scheme === undefined ? hasAuthority : scheme.toLowerCase() === 'https';
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port: number ?? (isSecure ? 443 : 80),
    isSecure,
    authority: port === undefined ? host : `${host}:${port}`,
  };
}

/** In the form that gRPC expects. */
export function targetOf({ host, port }: BrokerAddress): string {
  return isIP(host) === 6 ? `ipv6:[${host}]:${port}` : `${host}:${port}`;
}
