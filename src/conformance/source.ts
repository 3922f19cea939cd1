import { describe, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { checkKind } from './backend.ts';
import { SOURCE_LAWS, type SourceLaw } from './source-laws.ts';
import type { SourceHarness, SourceLawId } from './source-world.ts';

async function checkLaw(law: SourceLaw, harness: SourceHarness): Promise<void> {
  const world = await harness.openWorld();
  try {
    await law.check(world, harness);
  } finally {
    await world.close();
  }
}

/** Which laws that source breaks, and how; for tests of the suite itself. */
export async function brokenSourceLaws(harness: SourceHarness): Promise<ReadonlyMap<SourceLawId, string>> {
  const broken = new Map<SourceLawId, string>();
  for (const law of SOURCE_LAWS.filter(({ id }) => harness.excuses?.[id] === undefined)) {
    await checkLaw(law, harness).catch((thrown) => broken.set(law.id, Fault.from(thrown).message));
  }
  return broken;
}

/** Registers one test for each law. */
export function testSource(title: string, harness: SourceHarness): void {
  describe(`${title} keeps the laws of a source:`, () => {
    it('its example is valid, and it takes no key that nobody knows', () => checkKind(harness.kind));
    for (const law of SOURCE_LAWS) {
      const excuse = harness.excuses?.[law.id];
      if (excuse === undefined) it(law.name, () => checkLaw(law, harness));
      else it.skip(`${law.name} (${excuse})`, () => {});
    }
  });
}
