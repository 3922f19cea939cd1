import type { Random } from '#core/random.ts';

/** Draws from one stream of chance. Streams are apart, so that one more draw here changes nothing there. */
export interface Chance {
  readonly random: Random;
  happens(rate: number): boolean;
  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number;
  /** Milliseconds, evenly from `least` to `most`, whole: as many things as may happen at the same time. */
  ms(least: number, most: number): number;
  /** Milliseconds between events that know nothing of each other. */
  exponentialMs(mean: number): number;
  pick<T>(items: readonly T[]): T;
}

export function chanceFrom(random: Random): Chance {
  return {
    random,
    happens: (rate) => rate > 0 && random.next() < rate,
    whole: (least, most) => least + Math.floor(random.next() * (most - least + 1)),
    ms: (least, most) => Math.round(least + random.next() * (most - least)),
    exponentialMs: (mean) => Math.round(-Math.log(1 - random.next()) * mean),
    pick: <T>(items: readonly T[]): T => items[Math.floor(random.next() * items.length)] as T,
  };
}
