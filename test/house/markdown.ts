// Reads markdown as far as the tests of the documentation need it.

/** A fenced block. */
export interface Fence {
  readonly path: string;
  readonly line: number;
  readonly language: string;
  /** What follows the language: `test`, `needs=aws`, `file=muster.yaml`, the path of a file of the repository. */
  readonly marks: readonly string[];
  readonly text: string;
}

const unindented = (text: string, indent: string): string =>
  indent === '' ? text : text.replace(new RegExp(`^${indent}`, 'gm'), '');

export function fencesIn(path: string, markdown: string): Fence[] {
  return [...markdown.matchAll(/^( *)```([^\n`]*)\n([\s\S]*?)^\1```$/gm)].map((match) => {
    const [language = '', ...marks] = (match[2] as string).trim().split(/\s+/);
    const line = markdown.slice(0, match.index).split('\n').length;
    return { path, line, language, marks, text: unindented(match[3] as string, match[1] as string) };
  });
}

/** Where links in the text lead; what stands in code is none. */
export function linksIn(markdown: string): string[] {
  const text = markdown.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].map((match) => match[1] as string);
}

/** Splits a line as a shell would, as far as examples need it: quotes, comments, pipes, `&&`, `;` and `$(…)`. */
function shellWords(line: string): string[][] {
  const commands: string[][] = [[]];
  const token = /\s+|#.*$|(\|\||&&|[|;&)]|\$\()|((?:'[^']*'|"[^"]*"|\\.|[^\s|;&)'"\\])+)/g;
  for (const match of line.matchAll(token)) {
    // What a command in brackets prints is a word of the command around it.
    if (match[1] === '$(') commands.at(-1)?.push('PRINTED');
    if (match[1]) commands.push([]);
    else if (match[2]) {
      const word = match[2].replace(/'([^']*)'|"([^"]*)"|\\(.)/g, (_, one, two, three) => one ?? two ?? three);
      commands.at(-1)?.push(word);
    }
  }
  return commands;
}

export interface CommandLine {
  readonly words: readonly string[];
  readonly place: string;
}

const REDIRECTION = /^[0-9]*[<>]/;

/** What follows `muster` or `npx muster` in the examples of a fence. */
export function commandLines({ path, line, language, text }: Omit<Fence, 'marks'>): CommandLine[] {
  if (!['', 'sh', 'bash', 'console'].includes(language)) return [];
  return text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .flatMap((row, n) =>
      shellWords(row.replace(/^\s*[$%] /, '').replace(/=\$\(/g, '= $('))
        .map((words) => (words[0] === 'npx' ? words.slice(1) : words))
        .filter(([first]) => first === 'muster')
        .map(([, ...words]) => ({
          words: words.filter((word, n) => !REDIRECTION.test(word) && !/^[0-9]*[<>]+$/.test(words[n - 1] ?? '')),
          place: `${path}:${line + n + 1}`,
        })),
    );
}
