import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Declared {
  /** A file of `src/core`. */
  readonly file: string;
  readonly name: string;
}

/** What the nouns in `src/core` declare under names that end so, in the order of their files. */
function declaredIn(core: string, ending: 'Tables' | 'Histories'): readonly Declared[] {
  const files = readdirSync(core).filter((file) => file.endsWith('.ts') && !/\.(test|gen)\.ts$/.test(file));
  return files.toSorted().flatMap((file) => {
    const found = readFileSync(join(core, file), 'utf8').matchAll(new RegExp(`^export const (\\w+${ending})\\b`, 'gm'));
    return [...found].map(([, name = '']) => ({ file, name }));
  });
}

/** The tables and histories of every noun, each as one object. */
export function renderTableList(core: string): string {
  const [tables, histories] = [declaredIn(core, 'Tables'), declaredIn(core, 'Histories')];
  const byFile = Map.groupBy([...histories, ...tables], ({ file }) => file);
  const imports = [...byFile]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, found]) => `import { ${found.map(({ name }) => name).join(', ')} } from './${file}';`);
  const spread = (all: readonly Declared[]): string => all.map(({ name }) => `  ...${name},\n`).join('');
  return `// Written by "npm run gen" from src/core/*.ts; do not edit.
${imports.join('\n')}

/** Live records: all of them are in memory to read, and durable before anything follows from them. */
export const TABLES = {
${spread(tables)}} as const;

/** What is only appended. */
export const HISTORIES = {
${spread(histories)}} as const;
`;
}
