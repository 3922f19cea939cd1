import { describe, expect, it } from 'vitest';
import { brokenImageBuilderLaws, testImageBuilder } from './image-builder.ts';
import type { ImageBuilderLawId } from './image-builder-world.ts';
import { type ImageBuilderMistakes, memoryImageBuilder } from './memory-image-builder.ts';

testImageBuilder('a builder in memory', memoryImageBuilder());

const MISTAKES: readonly (readonly [keyof ImageBuilderMistakes, ImageBuilderLawId])[] = [
  ['assumesPrograms', 'needs'],
  ['findsOutByBuilding', 'needs'],
  ['keepsOldFiles', 'files'],
  ['findsAnything', 'tells apart'],
  ['neverFinds', 'found'],
  ['leavesContainer', 'builds'],
  ['isSilent', 'builds'],
  ['nameWithoutVersion', 'tells apart'],
  ['findsByName', 'replaces'],
  ['succeedsOnFailure', 'failed step'],
  ['leavesWhenFailed', 'failed step'],
  ['hidesExitCode', 'failed step'],
  ['hidesOutput', 'failed step'],
  ['ignoresAbort', 'aborted'],
  ['leavesWhenAborted', 'aborted'],
  ['firstPageOnly', 'lists'],
  ['oldestFirst', 'lists'],
  ['listsForeign', 'only ours'],
  ['dropsForeign', 'only ours'],
  ['dropsByName', 'drops'],
  ['dropFailsAgain', 'drops'],
  ['pushesLatest', 'pushes'],
  ['hidesRegistry', 'push refused'],
  ['pushSucceedsAlways', 'push refused'],
  ['cleansLiving', 'cleans'],
  ['cleansNothing', 'cleans'],
  ['passesForeignVariables', 'own variables'],
  ['secretInArguments', 'no secrets'],
  ['everyFaultIsInternal', 'typed faults'],
];

describe('the suite', () => {
  it.each(MISTAKES)('catches a builder with the mistake %s by the law "%s"', async (mistake, law) => {
    const broken = await brokenImageBuilderLaws(memoryImageBuilder({ [mistake]: true }));

    expect([...broken.keys()]).toContain(law);
  });

  it('finds nothing wrong with a builder that has none', async () => {
    expect(await brokenImageBuilderLaws(memoryImageBuilder())).toEqual(new Map());
  });
});
