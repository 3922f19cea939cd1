import { checkKind } from './backend.ts';
import { SOURCE_LAWS } from './source-laws.ts';
import type { SourceHarness, SourceLawId } from './source-world.ts';
import { findBroken, testLaws } from './suite.ts';

/** Which laws that source breaks, and how, and which excuses it does not need; for tests of the suite itself. */
export const brokenSourceLaws = (harness: SourceHarness): Promise<ReadonlyMap<SourceLawId, string>> =>
  findBroken(SOURCE_LAWS, harness);

/** Registers one test for each law. */
export function testSource(title: string, harness: SourceHarness): void {
  const suite = { title: `${title} keeps the laws of a source`, checkKind: () => checkKind(harness.kind) };
  testLaws(suite, SOURCE_LAWS, harness);
}
