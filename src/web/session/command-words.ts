// A command as people write it in one line, read as a shell would: words, quotes, backslashes.

export type ReadCommand =
  | { readonly words: readonly string[]; readonly fault?: undefined }
  | { readonly words?: undefined; readonly fault: string };

/** One part of a line: space, or a part of a word. Patterns such as `*` reach the program as they are written. */
const PART =
  /(?<space>[^\S\n]+)|'(?<single>[^']*)'|"(?<double>(?:[^"\\$`]|\\.)*)"|\\(?<escaped>.)|(?<plain>[^\s'"\\|&;<>$`]+)/sy;

/** What one can escape within double quotes; before anything else a backslash is one. */
const IN_DOUBLE_QUOTES = /\\(["\\$`])/g;

function textOf({ single, double, escaped, plain }: Readonly<Record<string, string | undefined>>): string {
  return single ?? double?.replace(IN_DOUBLE_QUOTES, '$1') ?? escaped ?? plain ?? '';
}

/** Why a line cannot be read on from there. */
function faultAt(rest: string): string {
  const [letter = ''] = rest;
  const inQuotes = letter === '"' ? /[$`]/.exec(rest.split('"')[1] ?? '')?.[0] : undefined;
  if (letter === '\\') return 'A \\ at the end escapes nothing.';
  if ((letter === '"' || letter === "'") && inQuotes === undefined) return `A quote ${letter} has no end.`;
  const what = letter === '\n' ? 'A second line' : (inQuotes ?? letter);
  return `${what} has a meaning only in a shell: put it in single quotes, or run the command in a shell.`;
}

/** The words of a command; a fault where only a shell could carry it out. */
export function readCommand(text: string): ReadCommand {
  const words: string[] = [];
  const line = text.trim();
  let isNew = true;
  for (let at = 0; at < line.length; at = PART.lastIndex) {
    PART.lastIndex = at;
    const groups = PART.exec(line)?.groups;
    if (!groups) return { fault: faultAt(line.slice(at)) };
    const isSpace = groups.space !== undefined;
    if (!isSpace) words.push((isNew ? '' : (words.pop() ?? '')) + textOf(groups));
    isNew = isSpace;
  }
  return words.length === 0 ? { fault: 'Write the command to run.' } : { words };
}
