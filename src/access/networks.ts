import { Fault } from '#core/fault.ts';

function parseIpv4(text: string): Uint8Array | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) {
    return undefined;
  }
  return Uint8Array.from(parts, Number);
}

/** The 16-bit groups on one side of `::`, the last one perhaps written as IPv4. */
function groupsOf(text: string): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [at, part] of parts.entries()) {
    const ipv4 = at === parts.length - 1 && part.includes('.') ? parseIpv4(part) : undefined;
    if (ipv4) groups.push(((ipv4[0] ?? 0) << 8) | (ipv4[1] ?? 0), ((ipv4[2] ?? 0) << 8) | (ipv4[3] ?? 0));
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

function parseIpv6(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = groupsOf(halves[0] ?? '');
  const tail = halves.length === 2 ? groupsOf(halves[1] ?? '') : [];
  if (!head || !tail) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array<number>(missing).fill(0), ...tail];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/** The 4 or 16 bytes of an address; an IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) has 4. */
export function parseIp(text: string): Uint8Array | undefined {
  if (!text.includes(':')) return parseIpv4(text);
  // A zone (`fe80::1%eth0`) names the interface and is no part of the address.
  const bytes = parseIpv6(text.replace(/%.*$/, ''));
  const isMapped = bytes && MAPPED_PREFIX.every((byte, at) => bytes[at] === byte);
  return isMapped ? bytes.subarray(12) : bytes;
}

interface Network {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

/** Reads `10.0.0.0/8`, `fd00::/8`, or a single address. */
export function parseNetwork(text: string): Network {
  const [, address = '', suffix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? [];
  const bytes = parseIp(address);
  // Written in IPv6 form, a mapped network counts its bits from the front of all 16 bytes.
  const skipped = bytes?.length === 4 && address.includes(':') ? 96 : 0;
  const bits = bytes && (suffix === undefined ? bytes.length * 8 : Number(suffix) - skipped);
  if (!bytes || bits === undefined || bits < 0 || bits > bytes.length * 8) {
    throw new Fault('invalid', `"${text}" is not a network.`, {
      remedy: 'Write it like 10.0.0.0/8, 192.168.1.7 or fd00::/8.',
    });
  }
  return { bytes, bits };
}

function contains({ bytes, bits }: Network, address: Uint8Array): boolean {
  if (address.length !== bytes.length) return false;
  return bytes.every((byte, at) => {
    const kept = Math.min(8, Math.max(0, bits - at * 8));
    const mask = (0xff << (8 - kept)) & 0xff;
    return (byte & mask) === ((address[at] ?? 0) & mask);
  });
}

/** Whether an address is in one of these networks; text that is no address is in none. */
export function isWithin(address: string, networks: readonly string[]): boolean {
  const bytes = parseIp(address);
  return bytes !== undefined && networks.some((network) => contains(parseNetwork(network), bytes));
}

// Parsed once: every request is checked against it.
const LOOPBACK = ['127.0.0.0/8', '::1'].map(parseNetwork);

/** Whether only this machine can reach that host: `localhost`, `127.0.0.0/8`, `::1`. */
export function isLoopbackHost(host: string): boolean {
  if (host.toLowerCase() === 'localhost') return true;
  const bytes = parseIp(host);
  return bytes !== undefined && LOOPBACK.some((network) => contains(network, bytes));
}
