import { describe, expect, it } from 'vitest';
import { brokenComputerLaws } from './computers.ts';
import type { ComputerLawId } from './computers-world.ts';
import { memoryComputers } from './memory/fake/testing.ts';
import type { Mistakes } from './memory/mistakes.ts';

/** A cloud whose listing shows what failed late. */
const LISTS_FAILURES = { operations: false };

const MISTAKES: readonly (readonly [keyof Mistakes, ComputerLawId, string, object?])[] = [
  ['leavesDisks', 'story', 'what the account still holds'],
  ['leavesDisks', 'removal', 'what the account still holds'],
  ['listsAllAsWorkers', 'story', 'in the middle'],
  ['repeatsAfterLostReply', 'failing calls', 'machines'],
  ['createsAgain', 'late listing', "'running', 2"],
  ['deletesAll', 'apart', 'without the first computer'],
  ['deletesAll', 'restored', 'to deeply equal'],
  ['dropsLateFailures', 'late failure', 'promised and not made'],
  ['dropsLateFailures', 'late failure', 'promised and not made', LISTS_FAILURES],
  ['showsLateFailuresForEver', 'late failure', 'promised and not made', LISTS_FAILURES],
  ['lostReplyIsFailure', 'failing calls', 'machines'],
  ['everyFaultIsInternal', 'refused', 'error'],
  ['dropsMarks', 'story', 'what the account still holds'],
  ['forgetsEnd', 'without a server', 'after its end'],
  ['logsToken', 'credentials', 'in the log of the server'],
];

describe('the suite of computers', () => {
  it.each(MISTAKES.map(([mistake, law, message, config]) => [mistake, law, message, config] as const))(
    'catches a backend that has the mistake %s, by the law "%s"',
    async (mistake, law, message, config) => {
      const broken = await brokenComputerLaws({ ...memoryComputers({ [mistake]: true }, config), stride: 1 }, [law]);

      expect([...broken.keys()]).toEqual([law]);
      expect(broken.get(law)).toContain(message);
    },
  );
});
