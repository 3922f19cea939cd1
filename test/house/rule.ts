import { describe, expect, test } from 'vitest';
import { asFile, isTest, parsed, type SourceFile, sourceFiles } from './tree.ts';

export const files = sourceFiles();
export const program = files.filter((file) => !isTest(file.path));

type Check = (file: SourceFile) => readonly string[];

/** What a rule finds, as `path: what to do instead`. */
const offences = (check: Check, among: readonly SourceFile[]): string[] =>
  among.flatMap((file) => check(file).map((found) => `${file.path}: ${found}`));

/** A rule of the house: the tree keeps it, and each of the texts that break it is found out. */
export function rule(
  title: string,
  check: Check,
  samples: {
    readonly breaks: readonly (readonly [path: string, text: string])[];
    readonly keeps?: typeof samples.breaks;
  },
  among = program,
): void {
  describe(title, () => {
    test('holds in the tree', () => {
      expect(offences(check, among)).toEqual([]);
    });
    test.each(samples.breaks)('is broken by %s: %s', (path, text) => {
      expect(check(asFile(path, text))).not.toEqual([]);
    });
    test.each(samples.keeps ?? [])('is kept by %s: %s', (path, text) => {
      expect(check(asFile(path, text))).toEqual([]);
    });
  });
}

export const codeMatches = (file: SourceFile, pattern: RegExp): string[] =>
  [...parsed(file).code.matchAll(pattern)].map((match) => match[1] ?? match[0]);
