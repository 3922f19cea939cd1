import type { SliceHarness } from '#sim/slice/cloud.ts';
import { checkKind } from './backend.ts';
import { demand } from './demand.ts';
import { APART_LAWS } from './slice-apart.ts';
import { DOCUMENT_LAWS } from './slice-documents.ts';
import { STEADFAST_LAWS } from './slice-steadfast.ts';
import { STORY_LAWS } from './slice-story.ts';
import type { SliceLaw, SliceLawId, SliceStage, SliceSuite } from './slice-world.ts';
import { findBroken, testLaws } from './suite.ts';

const LAWS: readonly SliceLaw[] = [...STORY_LAWS, ...APART_LAWS, ...STEADFAST_LAWS, ...DOCUMENT_LAWS];

/** Laws open their worlds themselves. */
const openStage = async (): Promise<SliceStage> => ({ close: async () => {} });

/** Which of these laws the provider breaks, and how; for tests of the suite itself. */
export function brokenSliceLaws(
  harness: SliceSuite,
  ids: readonly SliceLawId[],
): Promise<ReadonlyMap<SliceLawId, string>> {
  const laws = LAWS.filter(({ id }) => ids.includes(id));
  return findBroken(laws, { ...harness, openWorld: openStage });
}

function checkHarness({ provider, backend }: SliceHarness): void {
  const kind = provider.backends?.[backend.kind];
  demand(kind, `the provider ${provider.id} has no backend ${backend.kind}`);
  if (kind) checkKind(kind);
}

/** Registers one test for each law: from a document to machines, agents, sessions and back. */
export function testSlice(title: string, harness: SliceSuite): void {
  const suite = { title: `${title} keeps the laws of the slice`, checkKind: () => checkHarness(harness) };
  testLaws(suite, LAWS, { ...harness, openWorld: openStage });
}
