const PSEUDO = new Set([':method', ':scheme', ':authority', ':path']);
const NEEDED = [':method', ':scheme', ':path'];
// Of HTTP/1.1: they speak of a connection, which HTTP/2 does for itself (RFC 9113, 8.2.2).
const OF_CONNECTIONS = new Set(['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade']);
// RFC 9113, 8.2.1.
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const BROKEN_VALUE = /[\0\r\n]/;

function isAllowed(name: string, value: string): boolean {
  if (!NAME.test(name) || BROKEN_VALUE.test(value) || OF_CONNECTIONS.has(name)) return false;
  return name !== 'te' || value === 'trailers';
}

/**
 * The headers of a request, or undefined where it is malformed (RFC 9113, 8.2 and 8.3). Of a header that comes again the
 * first is kept: none that we read may have several values.
 */
export function requestHeaders(
  list: readonly (readonly [name: string, value: string])[],
): ReadonlyMap<string, string> | undefined {
  const headers = new Map<string, string>();
  let areRegular = false;
  for (const [name, value] of list) {
    const isPseudo = name.startsWith(':');
    if (isPseudo ? areRegular || !PSEUDO.has(name) || headers.has(name) : !isAllowed(name, value)) return undefined;
    areRegular ||= !isPseudo;
    if (!headers.has(name)) headers.set(name, value);
  }
  return NEEDED.every((name) => headers.get(name)) ? headers : undefined;
}

/** Headers behind the data of a request have no pseudo-headers. */
export const areTrailers = (list: readonly (readonly [name: string, value: string])[]): boolean =>
  list.every(([name, value]) => !name.startsWith(':') && isAllowed(name, value));
