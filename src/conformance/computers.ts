import { APART_LAWS } from './computers-apart.ts';
import { END_LAWS } from './computers-end.ts';
import { REFUSAL_LAWS } from './computers-refusals.ts';
import { REMOVAL_LAWS } from './computers-removal.ts';
import { STORY_LAWS } from './computers-story.ts';
import type { ComputerLawId, ComputerSuite } from './computers-world.ts';
import { checkHarness } from './slice.ts';
import type { SliceStage } from './slice-world.ts';
import { findBroken, testLaws } from './suite.ts';

const LAWS = [...STORY_LAWS, ...REFUSAL_LAWS, ...REMOVAL_LAWS, ...APART_LAWS, ...END_LAWS];

/** Laws open their worlds themselves. */
const openStage = async (): Promise<SliceStage> => ({ close: async () => {} });

/** Which of these laws are broken, and how; for tests of the suite itself. */
export function brokenComputerLaws(
  harness: ComputerSuite,
  ids: readonly ComputerLawId[],
): Promise<ReadonlyMap<ComputerLawId, string>> {
  const laws = LAWS.filter(({ id }) => ids.includes(id));
  return findBroken(laws, { ...harness, openWorld: openStage });
}

/** Registers one test for each law: from a request to a machine, its agent, a command, and to nothing again. */
export function testComputers(title: string, harness: ComputerSuite): void {
  const suite = { title: `${title} keeps the laws of a computer`, checkKind: () => checkHarness(harness) };
  testLaws(suite, LAWS, { ...harness, openWorld: openStage });
}
