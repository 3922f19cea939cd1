// Reads the source tree as text, for the tests that keep the rules of the house.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { parseSync } from 'vite';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface SourceFile {
  /** From the repository's root, with forward slashes. */
  readonly path: string;
  /** The folder below `src`; empty for files that stand there themselves. */
  readonly folder: string;
  readonly text: string;
  readonly lines: number;
}

const isGenerated = (path: string): boolean => /(\.gen\.ts|_pb\.ts)$/.test(path);
/** Tests, and what only tests use: it is named so, or lies in a folder of that name. */
export const isTest = (path: string): boolean => /\.test\.tsx?$|\/testing(\.ts$|\/)/.test(path);

/** Every TypeScript file below `src` that people write. */
export function sourceFiles(): SourceFile[] {
  return readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !isGenerated(path))
    .sort()
    .map((path) => asFile(path, readFileSync(join(ROOT, path), 'utf8')));
}

export function asFile(path: string, text: string): SourceFile {
  const parts = path.split('/');
  return { path, folder: parts.length > 2 ? (parts[1] as string) : '', text, lines: text.split('\n').length - 1 };
}

interface Import {
  readonly specifier: string;
  /** Nothing of it is loaded when the program runs. `import { type A }` is: the file is loaded, for nothing. */
  readonly isType: boolean;
}

interface Parsed {
  readonly imports: readonly Import[];
  /** The text with blanks in place of comments; offsets and lines stay. */
  readonly code: string;
  /** The same with the insides of strings, templates and texts of pages blanked too. */
  readonly bare: string;
}

type Tree = { readonly type?: string; readonly start?: number; readonly end?: number } & Readonly<
  Record<string, unknown>
>;

const isText = ({ type, value }: Tree): boolean =>
  type === 'TemplateElement' || type === 'JSXText' || (type === 'Literal' && typeof value === 'string');

const READ = new WeakMap<SourceFile, Parsed>();

/** What a file says, from its syntax tree, so that words in comments and strings are never taken for code. */
export function parsed(file: SourceFile): Parsed {
  const known = READ.get(file);
  if (known) return known;
  const { program, comments, errors } = parseSync(file.path, file.text);
  if (errors.length > 0) throw new Error(`${file.path}: ${errors[0]?.message}`);
  const imports: Import[] = [];
  const literals: Tree[] = [];
  const visit = (node: Tree): void => {
    const source = node.source as { type: string; value: unknown } | null | undefined;
    if (node.type && /^(Import|Export|TSImport)/.test(node.type) && source?.type === 'Literal')
      imports.push({
        specifier: String(source.value),
        isType: node.type === 'TSImportType' || (node.importKind ?? node.exportKind) === 'type',
      });
    if (isText(node)) literals.push(node);
    for (const below of Object.values(node)) if (below && typeof below === 'object') visit(below as Tree);
  };
  visit(program as unknown as Tree);
  const code = blanked(file.text, comments);
  const result = { imports, code, bare: blanked(code, literals) };
  READ.set(file, result);
  return result;
}

function blanked(text: string, spans: readonly { readonly start?: number; readonly end?: number }[]): string {
  let made = '';
  let at = 0;
  for (const { start = 0, end = 0 } of spans.toSorted((a, b) => (a.start ?? 0) - (b.start ?? 0))) {
    made += text.slice(at, start) + text.slice(start, end).replace(/[^\n]/g, ' ');
    at = end;
  }
  return made + text.slice(at);
}

/** Which files of ours a file imports, as paths from the root; types too, since they tie as well. */
export function importsOf(file: SourceFile): { readonly path: string; readonly isType: boolean }[] {
  const folder = file.path.split('/').slice(0, -1);
  return parsed(file).imports.flatMap(({ specifier, isType }) => {
    if (specifier.startsWith('#')) return [{ path: `src/${specifier.slice(1)}`, isType }];
    if (!specifier.startsWith('.')) return [];
    const path = join(...folder, specifier);
    return [{ path: path.split(sep).join('/'), isType }];
  });
}

/** Outside packages and Node's own modules that a file imports. */
export function packagesOf(file: SourceFile): string[] {
  return parsed(file)
    .imports.map(({ specifier }) => specifier)
    .filter((specifier) => !/^[#.]/.test(specifier));
}
