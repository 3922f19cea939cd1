import type { Random } from './random.ts';

// Crockford's alphabet in lower case: sorts as its numbers do, and no letter is taken for a digit.
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** Makes ids that sort by the time of their making, also within one millisecond and when the clock goes back. */
export function idMaker(now: () => number, random: Random): () => string {
  let lastMs = 0;
  let count = 0;
  return () => {
    const ms = Math.max(now(), lastMs);
    count = ms === lastMs ? count + 1 : 0;
    lastMs = ms;
    return base32(ms, 9) + base32(count, 4) + randomText(random, 5);
  };
}

/** A short random id for marks: fits the labels and names of every cloud. */
export function shortId(random: Random, length = 8): string {
  return randomText(random, length);
}

function base32(value: number, digits: number): string {
  let text = '';
  for (let rest = value; text.length < digits; rest = Math.floor(rest / 32)) text = BASE32[rest % 32] + text;
  return text;
}

function randomText(random: Random, length: number): string {
  let text = '';
  for (const byte of random.bytes(length)) text += BASE32[byte % 32];
  return text;
}

const LONGEST_SLUG = 20;

/** What of a pool's name every cloud accepts in a machine's name: RFC 1035, at most 20 characters. */
export function slug(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  return plain.slice(0, LONGEST_SLUG).replace(/^-+|-+$/g, '') || 'pool';
}

/** A name for one worker, never used again: `m-<slug>-<pool id>-<random>`, at most 50 characters. */
export function workerName(pool: { name: string; id: string }, random: Random): string {
  return `m-${slug(pool.name)}-${pool.id}-${randomText(random, 10)}`;
}
