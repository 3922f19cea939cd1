/** The known word that was most likely meant, or none. */
export function nearest(written: string, known: readonly string[]): string | undefined {
  const folded = fold(written);
  const longest = written.length < 3 ? 0 : Math.floor(written.length / 3);
  let best: { word: string; distance: number } | undefined;
  for (const word of known) {
    const distance = editDistance(folded, fold(word), longest);
    if (distance <= longest && (!best || distance < best.distance)) best = { word, distance };
  }
  return best?.word ?? known.find((word) => hasSameLetters(fold(word), folded));
}

/** In a short word one slip of the finger counts as two mistakes where it moves a letter further than to its neighbour. */
const hasSameLetters = (a: string, b: string): boolean => a.length === b.length && lettersOf(a) === lettersOf(b);

const lettersOf = (word: string): string => [...word].toSorted().join('');

const fold = (word: string): string => word.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Insertions, deletions, replacements and swaps of neighbours between two words; counts no further than past `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const replaced = at(last, j - 1) + (isSame ? 0 : 1);
      const swapped = isSwap ? at(beforeLast, j - 2) + 1 : replaced;
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, swapped));
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;
