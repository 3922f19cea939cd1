/** The samples of a series as promtool reads them: `_` for none, `ax2` for three times a. */
export function recordedValues(samples: readonly (string | undefined)[]): string {
  const words: string[] = [];
  for (let at = 0; at < samples.length; ) {
    const first = samples[at];
    let next = at + 1;
    while (next < samples.length && samples[next] === first) next += 1;
    const repeated = next - at - 1;
    words.push(repeated === 0 ? (first ?? '_') : `${first ?? '_'}x${first === undefined ? repeated + 1 : repeated}`);
    at = next;
  }
  return words.join(' ');
}
