import { USES, type Use } from './provider.ts';
import type { Random } from './random.ts';

// Crockford's alphabet in lower case: sorts as its numbers do, and no letter is taken for a digit.
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

const TIME_DIGITS = 9;

/** Makes ids that sort by the time of their making, also within one millisecond and when the clock goes back. */
export function idMaker(now: () => number, random: Random): () => string {
  let lastMs = 0;
  let time = base32(lastMs, TIME_DIGITS);
  let count = 0;
  return () => {
    const ms = Math.max(now(), lastMs);
    count = ms === lastMs ? count + 1 : 0;
    // Many are made within one millisecond.
    if (ms !== lastMs) time = base32(ms, TIME_DIGITS);
    lastMs = ms;
    return time + base32(count, 4) + randomText(random, 5);
  };
}

/** Ids that were made at that time or later sort after this text, those that were made earlier before it. */
export const idsFrom = (ms: number): string => base32(ms, TIME_DIGITS);

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

const LONGEST_SLUG = 10;

/** What of a pool's name every cloud accepts in a machine's name: RFC 1035, at most 10 characters. */
export function slug(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  return plain.slice(0, LONGEST_SLUG).replace(/^-+|-+$/g, '') || 'pool';
}

const STEM_LENGTH = 8;
const PLACE_DIGITS = 2;

/** The most names that one launch may have. */
export const MOST_NAMES = 32 ** PLACE_DIGITS;

/** The name at a place of a launch: clouds that start many machines by one call tell each only its place. */
export function nameAt(stem: string, place: number): string {
  return stem + base32(place, PLACE_DIGITS);
}

/** What these names have in common, where each is the name at its place; else nothing. */
export function stemOf(names: readonly string[]): string | undefined {
  const stem = names[0]?.slice(0, -PLACE_DIGITS);
  if (!stem || names.length > MOST_NAMES) return undefined;
  return names.every((name, place) => name === nameAt(stem, place)) ? stem : undefined;
}

const LAUNCH_NAME = new RegExp(`^([mc])-[a-z0-9-]+-([^-]+)-[${BASE32}]{${STEM_LENGTH + PLACE_DIGITS}}$`);

const LETTER_OF: Readonly<Record<Use, string>> = { worker: 'm', computer: 'c' };

/** Whether we gave that name, rather than a cloud that names its machines itself. */
export const isLaunchName = (name: string): boolean => LAUNCH_NAME.test(name);

/** For what and for whom we gave that name; undefined where we did not give it. */
export function readLaunchName(name: string): { readonly use: Use; readonly owner: string } | undefined {
  const [, letter, owner] = LAUNCH_NAME.exec(name) ?? [];
  const use = USES.find((each) => LETTER_OF[each] === letter);
  return use && owner !== undefined ? { use, owner } : undefined;
}

/** Names for the machines of one launch, never used again: `m-<slug>-<owner id>-<random><place>`, at most 32 characters with an owner id of 8. */
export function launchNames(
  owner: { readonly name: string; readonly id: string },
  count: number,
  random: Random,
  use: Use = 'worker',
): string[] {
  const stem = `${LETTER_OF[use]}-${slug(owner.name)}-${owner.id}-${randomText(random, STEM_LENGTH)}`;
  return Array.from({ length: count }, (_, place) => nameAt(stem, place));
}
