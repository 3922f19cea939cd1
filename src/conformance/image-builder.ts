import { checkKind } from './backend.ts';
import { IMAGE_BUILDER_LAWS } from './image-builder-laws.ts';
import { IMAGE_BUILDER_REACH_LAWS } from './image-builder-reach-laws.ts';
import type { ImageBuilderHarness, ImageBuilderLawId, ImageBuilderSubject } from './image-builder-world.ts';
import { findBroken, testLaws } from './suite.ts';

const LAWS = [...IMAGE_BUILDER_LAWS, ...IMAGE_BUILDER_REACH_LAWS];

/** Which laws that builder breaks, and how, and which excuses it does not need; for tests of the suite itself. */
export const brokenImageBuilderLaws = (subject: ImageBuilderSubject): Promise<ReadonlyMap<ImageBuilderLawId, string>> =>
  findBroken(LAWS, subject);

/** Registers one test for each law. */
export function testImageBuilder(title: string, harness: ImageBuilderHarness): void {
  const suite = { title: `${title} keeps the laws of an image builder`, checkKind: () => checkKind(harness.kind) };
  testLaws(suite, LAWS, harness);
}
