/** A text of JSON with its `//` and block comments blanked out: every other character keeps its line and column. */
export function withoutComments(text: string): string {
  const STRING_OR_COMMENT = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  return text.replace(STRING_OR_COMMENT, (found) => (found.startsWith('"') ? found : found.replace(/[^\n]/g, ' ')));
}
