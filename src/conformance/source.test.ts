import { describe, expect, it } from 'vitest';
import { memorySource, type SourceMistakes } from './memory-source.ts';
import { brokenSourceLaws, testSource } from './source.ts';
import type { SourceLawId } from './source-world.ts';

testSource('the source in memory', memorySource());

const MISTAKES: readonly (readonly [keyof SourceMistakes, SourceLawId])[] = [
  ['firstPageOnly', 'lists all'],
  ['listsTwice', 'lists all'],
  ['trimsText', 'lists all'],
  ['emptyIsAnError', 'empty'],
  ['ignoresHeld', 'held'],
  ['looksAtKeysOnly', 'held'],
  ['sameVersion', 'versions'],
  ['freshVersions', 'versions'],
  ['remembersRemoved', 'removed'],
  ['leavesOutBad', 'bad alone'],
  ['badSpoilsAll', 'bad alone'],
  ['swallowsBrokenPage', 'lists in part'],
  ['everyFaultIsInternal', 'typed faults'],
  ['ignoresAbort', 'aborted'],
  ['hangsForEver', 'hangs'],
  ['logsText', 'secrets'],
  ['reportsToAll', 'reports'],
  ['swallowsReports', 'reports'],
  ['reportChangesVersion', 'reports'],
  ['reportsWhenAborted', 'reports'],
  ['refusesUnknownKey', 'reports'],
  ['hidesDeleted', 'deleted'],
  ['listsDeletedAsLiving', 'deleted'],
  ['forgetsDeletions', 'deleted'],
  ['ignoresGone', 'deleted'],
  ['refusesGoneTwice', 'deleted'],
  ['goneTakesAll', 'deleted'],
];

describe('the suite', () => {
  it.each(MISTAKES)('catches a source that has the mistake %s, by the law "%s"', async (mistake, law) => {
    const broken = await brokenSourceLaws(memorySource({ [mistake]: true }));

    expect([...broken.keys()]).toContain(law);
  });

  it('finds nothing wrong with a source that has none', async () => {
    expect(await brokenSourceLaws(memorySource())).toEqual(new Map());
  });

  it('does not let a harness pass over a law in silence', async () => {
    const whole = memorySource();
    const openWorld = async () => {
      const { hang: _hang, spoil: _spoil, markDeleted: _mark, ...mute } = await whole.openWorld();
      return mute;
    };
    const broken = await brokenSourceLaws({ ...whole, openWorld });
    const excused = await brokenSourceLaws({
      ...whole,
      openWorld,
      excuses: { 'bad alone': 'a reason', hangs: 'a reason', deleted: 'a reason' },
    });

    expect([...broken.keys()]).toEqual(['bad alone', 'hangs', 'deleted']);
    expect(excused).toEqual(new Map());
  });

  it('lets no excuse stand that is not needed', async () => {
    const broken = await brokenSourceLaws({ ...memorySource(), excuses: { hangs: 'a reason' } });

    expect(broken).toEqual(new Map([['hangs', 'this law holds, and needs no excuse']]));
  });
});
