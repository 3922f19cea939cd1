// Who asks: Crusoe's request signing, version 1.0.
import { createHmac } from 'node:crypto';
import { MINUTE_MS } from '#core/clock.ts';
import { refusal } from '#fakes/refusal.ts';
import type { CrusoeCall } from './read-call.ts';

const SKEW_MS = 5 * MINUTE_MS;
const bad = (): Error => refusal('401', 'bad_credential', 401);

/** Throws unless the request is signed with that secret, within five minutes. */
export function authorize(
  { headers, url, method }: CrusoeCall,
  keys: ReadonlyMap<string, string>,
  nowMs: number,
): void {
  const timestamp = headers.get('x-crusoe-timestamp') ?? '';
  const [scheme, credential = ''] = (headers.get('authorization') ?? '').split(' ');
  const [version, key = '', signature] = credential.split(':');
  const secret = keys.get(key);
  if (scheme !== 'Bearer' || version !== '1.0' || secret === undefined) throw bad();
  const isInTime =
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(timestamp) && Math.abs(Date.parse(timestamp) - nowMs) <= SKEW_MS;
  if (!isInTime) throw bad();
  const query = new URLSearchParams(url.searchParams);
  query.sort();
  const text = [url.pathname, query.toString(), method, timestamp, ''].join('\n');
  const expected = createHmac('sha256', Buffer.from(secret, 'base64url')).update(text).digest('base64url');
  if (signature !== expected) throw bad();
}
