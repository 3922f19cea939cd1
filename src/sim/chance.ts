import type { Random } from '#core/random.ts';

/** Draws from one stream of chance. Streams are apart, so that one more draw here changes nothing there. */
export interface Chance {
  readonly random: Random;
  happens(rate: number): boolean;
  /** Evenly from `least` up to, not including, `most`. */
  between(least: number, most: number): number;
  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number;
  /** Waiting times between events that know nothing of each other. */
  exponential(mean: number): number;
  pick<T>(items: readonly T[]): T;
}

export function chanceFrom(random: Random): Chance {
  return {
    random,
    happens: (rate) => rate > 0 && random.next() < rate,
    between: (least, most) => least + random.next() * (most - least),
    whole: (least, most) => least + Math.floor(random.next() * (most - least + 1)),
    exponential: (mean) => -Math.log(1 - random.next()) * mean,
    pick: <T>(items: readonly T[]): T => items[Math.floor(random.next() * items.length)] as T,
  };
}
