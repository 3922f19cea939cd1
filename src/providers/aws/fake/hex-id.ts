import { Buffer } from 'node:buffer';
import type { Random } from '#core/random.ts';

const DIGITS = 17;

/** An id as EC2 makes them: `i-` and 17 hexadecimal digits. */
export function hexId(prefix: string, random: Random): string {
  return `${prefix}-${Buffer.from(random.bytes(DIGITS)).toString('hex').slice(0, DIGITS)}`;
}

/** A request id, for logs. */
export function requestId(random: Random): string {
  const hex = Buffer.from(random.bytes(16)).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
