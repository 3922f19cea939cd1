import { Fault } from '#core/fault.ts';
import { isLoopbackHost, parseIp } from '../access/networks.ts';
import { httpFault } from './problem.ts';

const HOST = /^(?:\[([0-9a-f:.%]+)\]|([^:[\]/\\@?#\s]+))(?::(\d{1,5}))?$/i;

const plain = (host: string): string => {
  const bytes = parseIp(host.replace(/^\[|\]$/g, ''));
  return bytes ? `ip ${Buffer.from(bytes).toString('hex')}` : host.toLowerCase().replace(/\.$/, '');
};

/**
 * Refuses requests that were sent to another name. A page in a browser can make its own name lead to our address
 * (DNS rebinding), but it cannot hide that name.
 */
export function checkHost(header: string | undefined, hosts: readonly string[]): void {
  const match = HOST.exec(header ?? '');
  if (!match) throw httpFault(400, 'invalid', 'The Host header is missing or malformed.', { at: 'headers.host' });
  const host = match[1] ?? match[2] ?? '';
  if (isLoopbackHost(host) || hosts.some((known) => plain(known) === plain(host))) return;
  throw httpFault(421, 'denied', `This server is not ${host}.`, {
    at: 'headers.host',
    remedy: 'Use the address of the server, or add this name to `access.allowed_hosts` in its configuration.',
  });
}

/** Refuses what a page of another site makes a browser send along with our cookie. */
export function checkOrigin(headers: {
  origin?: string | undefined;
  host?: string | undefined;
  'sec-fetch-site'?: unknown;
}): void {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  const isForeignSite = site !== undefined && site !== 'same-origin' && site !== 'none';
  const isForeignOrigin = origin !== undefined && origin.replace(/^https?:\/\//, '') !== host;
  if (!isForeignSite && !isForeignOrigin) return;
  throw new Fault('denied', 'A browser sent this on behalf of another site.', {
    at: 'headers.origin',
    remedy: 'Use the pages of this server, or a token in the Authorization header.',
  });
}
