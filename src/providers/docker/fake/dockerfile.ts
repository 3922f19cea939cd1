// A Dockerfile as the fake engine reads it: the instructions that this provider writes, and no others.
import { refusal } from '#fakes/refusal.ts';

export interface Instruction {
  readonly word: string;
  readonly rest: string;
}

const KNOWN = new Set(['FROM', 'ARG', 'LABEL', 'COPY', 'ADD', 'RUN', 'EXPOSE', 'ENTRYPOINT']);

export function instructionsIn(text: string): readonly Instruction[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return lines.map((line, at) => {
    const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (KNOWN.has(word)) return { word, rest };
    const said = `dockerfile parse error line ${at + 1}: unknown instruction: ${word || line}`;
    throw refusal('bad_parameter', said, 400);
  });
}

const PAIR = /([\w.]+)=("(?:[^"\\]|\\.)*"|\S+)/g;

/** The labels of an instruction, with its arguments in place of variables. */
export function labelsOf(rest: string, args: Readonly<Record<string, string>>): Record<string, string> {
  const pairs = [...rest.matchAll(PAIR)].map(([, key = '', value = '']) => {
    const plain = value.startsWith('"') ? (JSON.parse(value.replaceAll('\\$', '$')) as string) : value;
    return [key, plain.replace(/^\$(\w+)$/, (_match, name: string) => args[name] ?? '')] as const;
  });
  return Object.fromEntries(pairs);
}
