/** Sentences in a row; what a cloud or a program has said may come without its full stop. */
export const sentences = (...parts: readonly (string | undefined)[]): string =>
  parts
    .flatMap((part) => part?.trim() || [])
    .map((part, at, all) => (at === all.length - 1 || /[.!?]$/.test(part) ? part : `${part}.`))
    .join(' ');
