import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { brokenLaws, checkKind } from './backend.ts';
import type { LawId } from './backend-world.ts';
import { memoryCloud } from './memory/fake/testing.ts';
import provider from './memory/index.ts';
import type { Mistakes } from './memory/mistakes.ts';

const kind = provider.backends.memory_machine;

const MISTAKES: readonly (readonly [keyof Mistakes, LawId])[] = [
  ['firstPageOnly', 'lists all'],
  ['dropsMarks', 'lists all'],
  ['listsAllAsWorkers', 'uses'],
  ['repeatsAfterLostReply', 'lost reply'],
  ['createsAgain', 'makes once'],
  ['createsAgain', 'lost reply'],
  ['lostReplyIsFailure', 'lost reply'],
  ['listsForeign', 'sees its own'],
  ['deletesForeign', 'foreign mark'],
  ['trustsTheShownMark', 'true mark'],
  ['absentIsAnError', 'deletes'],
  ['deletesAll', 'deletes'],
  ['trustsListings', 'unlisted'],
  ['ignoresAbort', 'aborted'],
  ['hangsForEver', 'hangs'],
  ['swallowsBrokenPage', 'lists in part'],
  ['everyFaultIsInternal', 'typed faults'],
  ['logsToken', 'secrets'],
  ['namesAllAlike', 'batch'],
  ['createsAgain', 'batch'],
  ['dropsLateFailures', 'late failure'],
  ['callsPendingMade', 'late failure'],
  ['checksOnlyItsOwn', 'late failure'],
  ['tellsFailuresOnce', 'late failure'],
  ['callsPendingFailed', 'pending'],
  ['suspendDeletes', 'parks'],
  ['suspendsAll', 'parks'],
  ['suspendsForeign', 'parks'],
  ['suspendsOnce', 'parks'],
  ['accountAnew', 'account'],
  ['claimsExact', 'exact'],
  ['neverHints', 'hints'],
  ['hintsForEver', 'hints'],
  ['hidesEndpoints', 'endpoints'],
  ['showsOwnHost', 'endpoints'],
  ['showsOnePort', 'endpoints'],
  ['showsPortAlways', 'endpoints'],
  ['countsEndFromNow', 'ends'],
  ['createsAgain', 'ends'],
  ['dropsEnd', 'ends'],
  ['hidesEnd', 'ends'],
];

/** Of a cloud whose listing shows what failed. */
const LISTING_MISTAKES: typeof MISTAKES = [
  ['dropsLateFailures', 'late failure'],
  ['showsLateFailuresForEver', 'late failure'],
];

describe('the suite', () => {
  it.each(LISTING_MISTAKES)(
    'catches a backend without operations that has the mistake %s, by the law "%s"',
    async (mistake, law) => {
      const broken = await brokenLaws(memoryCloud({ [mistake]: true }, { operations: false }));

      expect([...broken.keys()]).toContain(law);
    },
  );

  it.each(MISTAKES)('catches a backend that has the mistake %s, by the law "%s"', async (mistake, law) => {
    const broken = await brokenLaws(memoryCloud({ [mistake]: true }));

    expect([...broken.keys()]).toContain(law);
  });

  it('finds nothing wrong with a backend that has none', async () => {
    expect(await brokenLaws(memoryCloud())).toEqual(new Map());
  });

  it('does not let a harness pass over a law in silence', async () => {
    const whole = memoryCloud();
    const openWorld = async () => {
      const { hang: _hang, loseReply: _lose, failLate: _late, ...mute } = await whole.openWorld();
      return mute;
    };
    const broken = await brokenLaws({ ...whole, openWorld });
    const excused = await brokenLaws({
      ...whole,
      openWorld,
      excuses: { 'lost reply': 'a reason', hangs: 'a reason', 'late failure': 'a reason' },
    });

    expect([...broken.keys()]).toEqual(['lost reply', 'hangs', 'late failure']);
    expect(excused).toEqual(new Map());
  });

  it('catches endpoints of a kind whose harness does not say that there are some', async () => {
    const broken = await brokenLaws({ ...memoryCloud(), hasEndpoints: false });

    expect([...broken.keys()]).toEqual(['endpoints']);
  });

  it('lets no excuse stand that is not needed', async () => {
    const broken = await brokenLaws({ ...memoryCloud(), excuses: { hangs: 'a reason' } });

    expect(broken).toEqual(new Map([['hangs', 'this law holds, and needs no excuse']]));
  });

  it('refuses a kind whose example is wrong, or that takes any key', () => {
    expect(() => checkKind(kind)).not.toThrow();
    expect(() => checkKind({ ...kind, example: { size: 'huge' } })).toThrow('the example is not valid');
    expect(() => checkKind({ ...kind, config: z.looseObject({}) })).toThrow('an unknown key');
    expect(() => checkKind({ ...kind, summary: 'machines' })).toThrow('the summary must be a sentence');
  });
});
