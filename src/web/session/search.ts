import type { OutputBlock } from './output-text.ts';

/** A stretch of text, as it stands or because it is what was looked for. */
export interface Stretch {
  readonly text: string;
  readonly isHit: boolean;
}

const pattern = (words: string): RegExp => new RegExp(words.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'giu');

/** Text cut at each hit; upper and lower case are the same. */
export function stretchesOf(text: string, words: string): readonly Stretch[] {
  if (words === '') return [{ text, isHit: false }];
  const stretches: Stretch[] = [];
  let end = 0;
  for (const { 0: hit, index } of text.matchAll(pattern(words))) {
    stretches.push({ text: text.slice(end, index), isHit: false }, { text: hit, isHit: true });
    end = index + hit.length;
  }
  return [...stretches, { text: text.slice(end), isHit: false }];
}

/** Where one hit is: the block, and which hit within it. */
export interface HitPlace {
  readonly block: number;
  readonly hit: number;
}

export interface Hits {
  readonly count: number;
  /** Any number: before the first comes the last. */
  placeOf(hit: number): HitPlace | undefined;
}

/** Counts hits; what has been counted in a full block is not counted again while the words are the same. */
export function openSearch(words: string): (blocks: readonly OutputBlock[]) => Hits {
  const counted = new WeakMap<OutputBlock, number>();
  function countIn(block: OutputBlock): number {
    const known = counted.get(block);
    if (known !== undefined) return known;
    let count = 0;
    for (const { text } of block.runs) for (const { isHit } of stretchesOf(text, words)) count += isHit ? 1 : 0;
    counted.set(block, count);
    return count;
  }
  return (blocks) => {
    const counts = words === '' ? [] : blocks.map(countIn);
    const count = counts.reduce((sum, one) => sum + one, 0);
    return {
      count,
      placeOf(hit) {
        let rest = count === 0 ? 0 : ((hit % count) + count) % count;
        for (const [at, own] of counts.entries()) {
          if (rest < own) return { block: blocks[at]?.id ?? 0, hit: rest };
          rest -= own;
        }
        return undefined;
      },
    };
  };
}
