import { describe, expect, it } from 'vitest';
import { brokenClusterLaws, testCluster } from './cluster.ts';
import type { ClusterLawId } from './cluster-world.ts';
import { type ClusterMistakes, memoryCluster } from './memory-cluster.ts';

testCluster('the cluster in memory', memoryCluster());

const MISTAKES: readonly (readonly [keyof ClusterMistakes, ClusterLawId])[] = [
  ['slashAtEnd', 'address'],
  ['tokenInId', 'address'],
  ['idAnew', 'same id'],
  ['wrongHeader', 'accepted'],
  ['asksEveryTime', 'memory'],
  ['freshObjects', 'memory'],
  ['ignoresRefused', 'refused'],
  ['renewsForEach', 'one renewal'],
  ['neverRenews', 'expires'],
  ['renewsTooLate', 'expires'],
  ['everyFaultIsInternal', 'typed faults'],
  ['faultWithoutPlace', 'typed faults'],
  ['tokenInFault', 'typed faults'],
  ['ignoresAbort', 'aborted'],
  ['hangsForEver', 'hangs'],
  ['logsToken', 'secrets'],
  ['leavesCallsBehind', 'closes'],
  ['closesOnce', 'closes'],
];

describe('the suite', () => {
  it.each(MISTAKES)('catches an access that has the mistake %s, by the law "%s"', async (mistake, law) => {
    const broken = await brokenClusterLaws(memoryCluster({ [mistake]: true }));

    expect([...broken.keys()]).toContain(law);
  });

  it('finds nothing wrong with an access that has none', async () => {
    expect(await brokenClusterLaws(memoryCluster())).toEqual(new Map());
  });

  it('does not let a harness pass over a law in silence', async () => {
    const whole = memoryCluster();
    const openWorld = async () => {
      const { hang: _hang, asked: _asked, ...mute } = await whole.openWorld();
      return mute;
    };
    const broken = await brokenClusterLaws({ ...whole, openWorld });

    expect([...broken.keys()]).toEqual(['memory', 'one renewal', 'hangs', 'closes']);
  });

  it('lets no excuse stand that is not needed', async () => {
    const broken = await brokenClusterLaws({ ...memoryCluster(), excuses: { hangs: 'a reason' } });

    expect(broken).toEqual(new Map([['hangs', 'this law holds, and needs no excuse']]));
  });
});
