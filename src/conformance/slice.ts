import { Fault } from '#core/fault.ts';
import type { SliceHarness } from '#sim/slice/cloud.ts';
import { checkKind } from './backend.ts';
import { demand } from './demand.ts';
import { APART_LAWS } from './slice-apart.ts';
import { DOCUMENT_LAWS } from './slice-documents.ts';
import { STEADFAST_LAWS } from './slice-steadfast.ts';
import { STORY_LAWS } from './slice-story.ts';
import type { SliceLaw, SliceLawId, SliceStage, SliceSuite } from './slice-world.ts';
import { findBroken, testLaws } from './suite.ts';

const LAWS = [...STORY_LAWS, ...APART_LAWS, ...STEADFAST_LAWS, ...DOCUMENT_LAWS].map(tellingRefusals);

/** Where the server refuses a document of the harness there is no pool, and laws fail in words that do not say so. */
function tellingRefusals(law: SliceLaw): SliceLaw {
  return {
    ...law,
    async check(stage, harness) {
      const refusals = new Set<string>();
      const refused = (why: string): void => void refusals.add(why);
      await law.check(stage, { ...harness, refused }).catch((cause) => {
        if (refusals.size === 0) throw cause;
        const { message } = Fault.from(cause);
        throw new Fault('internal', `${message}\nThe server refused documents:\n${[...refusals].join('\n')}`, {
          cause,
        });
      });
    },
  };
}

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

/** The kind that pools of this harness name. */
export function checkHarness({ provider, backend }: Pick<SliceHarness, 'provider' | 'backend'>): void {
  const kind = provider.backends?.[backend.kind];
  demand(kind, `the provider ${provider.id} has no backend ${backend.kind}`);
  if (kind) checkKind(kind);
}

/** Registers one test for each law: from a document to machines, agents, sessions and back. */
export function testSlice(title: string, harness: SliceSuite): void {
  const suite = { title: `${title} keeps the laws of the slice`, checkKind: () => checkHarness(harness) };
  testLaws(suite, LAWS, { ...harness, openWorld: openStage });
}
