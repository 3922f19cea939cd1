import { describe, expect, it } from 'vitest';
import { memorySlice } from './memory/fake/testing.ts';
import type { Mistakes } from './memory/mistakes.ts';
import { brokenSliceLaws } from './slice.ts';
import type { SliceLawId } from './slice-world.ts';

/** A cloud whose listing shows what failed late. */
const LISTS_FAILURES = { operations: false };

const MISTAKES: readonly (readonly [keyof Mistakes, SliceLawId, string, object?])[] = [
  ['firstPageOnly', 'broken page of machines', 'StringContaining "broken"'],
  ['swallowsBrokenPage', 'broken page of machines', 'StringContaining "broken"'],
  ['forgetsBoots', 'boots', "say boots: 'script' in the kind"],
  ['dropsInstall', 'boots', 'give boot.install to bootScript'],
  ['namesAllAlike', 'story', 'machines made twice'],
  ['dropsMarks', 'story', 'in the middle'],
  ['createsAgain', 'late listing', 'machines made twice'],
  ['repeatsAfterLostReply', 'lost replies', 'machines made twice'],
  ['absentIsAnError', 'dropped at calls', 'in the middle'],
  ['dropsLateFailures', 'late refusal', "to contain 'exhausted'"],
  ['callsPendingMade', 'late refusal', "to contain 'exhausted'"],
  ['dropsLateFailures', 'late refusal', "to contain 'exhausted'", LISTS_FAILURES],
  ['showsLateFailuresForEver', 'late refusal', 'in the middle', LISTS_FAILURES],
  ['deletesAll', 'equal pools', 'to deeply equal'],
  ['deletesAll', 'foreign machines', "'gone'"],
  ['deletesAll', 'removal', 'to deeply equal'],
];

describe('the suite of the slice', () => {
  it.each(MISTAKES.map(([mistake, law, message, config]) => [mistake, law, message, config] as const))(
    'catches a provider that has the mistake %s, by the law "%s"',
    async (mistake, law, message, config) => {
      const broken = await brokenSliceLaws({ ...memorySlice({ [mistake]: true }, config), stride: 1 }, [law]);

      expect([...broken.keys()]).toEqual([law]);
      expect(broken.get(law)).toContain(message);
    },
  );

  it('says why a document was refused, where a law fails for want of its pool', async () => {
    const whole = memorySlice();
    const config = { size: 'huge' };
    const broken = await brokenSliceLaws({ ...whole, backend: { ...whole.backend, config } }, ['story', 'removal']);

    expect([...broken.keys()]).toEqual(['story', 'removal']);
    for (const message of broken.values())
      expect(message).toMatch(/gpu-pool.* auto_scaler\.backend\.memory_machine\.size: must be one of small, large/);
  });

  it('lets no excuse stand that is not needed', async () => {
    const broken = await brokenSliceLaws({ ...memorySlice(), excuses: { story: 'a reason' } }, ['story']);

    expect(broken).toEqual(new Map([['story', 'this law holds, and needs no excuse']]));
  });
});
