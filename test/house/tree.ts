// Reads the source tree as text, for the tests that keep the rules of the house.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

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
export const isTest = (path: string): boolean => /\.test\.ts$|\/testing(\.ts$|\/)/.test(path);

/** Every TypeScript file below `src` that people write. */
export function sourceFiles(): SourceFile[] {
  return readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !isGenerated(path))
    .sort()
    .map((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8');
      const parts = path.split('/');
      return { path, folder: parts.length > 2 ? (parts[1] as string) : '', text, lines: text.split('\n').length - 1 };
    });
}

/** Which files of ours a file imports, as paths from the root; types too, since they tie as well. */
export function importsOf(file: SourceFile): string[] {
  const specifiers = [...file.text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] as string);
  const folder = file.path.split('/').slice(0, -1);
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith('#')) return [`src/${specifier.slice(1)}`];
    if (specifier.startsWith('.'))
      return [
        join(...folder, specifier)
          .split(sep)
          .join('/'),
      ];
    return [];
  });
}

/** Outside packages and Node's own modules that a file imports. */
export function packagesOf(file: SourceFile): string[] {
  return [...file.text.matchAll(/(?:from|import)\s*\(?\s*'([^'#.][^']*)'/g)].map((match) => match[1] as string);
}
