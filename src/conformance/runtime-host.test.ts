import { describe, expect, it } from 'vitest';
import { memoryRuntimeHost, type RuntimeHostMistakes } from './memory-runtime-host.ts';
import { brokenRuntimeHostLaws, testRuntimeHost } from './runtime-host.ts';
import type { RuntimeHostLawId } from './runtime-host-world.ts';

testRuntimeHost('the host in memory', memoryRuntimeHost());

const MISTAKES: readonly (readonly [keyof RuntimeHostMistakes, RuntimeHostLawId])[] = [
  ['readyWithoutAnything', 'absent'],
  ['rendersByApplying', 'renders only'],
  ['digestOfTemplatesAlone', 'renders only'],
  ['freshDigests', 'renders only'],
  ['grantsWithoutRendering', 'applies'],
  ['makesTwice', 'repeats'],
  ['writesAlways', 'repeats'],
  ['ignoresChanges', 'changes'],
  ['readyWhenSilent', 'answers'],
  ['overlooksDamage', 'repairs'],
  ['shrinksStorage', 'only grows'],
  ['grantsWhatWasAsked', 'only grows'],
  ['hibernatesWithoutData', 'hibernates'],
  ['leavesData', 'releases'],
  ['releaseFailsAgain', 'releases'],
  ['listsForeign', 'only ours'],
  ['removesForeign', 'only ours'],
  ['everyFaultIsInternal', 'typed faults'],
  ['ignoresAbort', 'aborted'],
];

describe('the suite', () => {
  it.each(MISTAKES)('catches a host that has the mistake %s, by the law "%s"', async (mistake, law) => {
    const broken = await brokenRuntimeHostLaws(memoryRuntimeHost({ [mistake]: true }));

    expect([...broken.keys()]).toContain(law);
  });

  it('finds nothing wrong with a host that has none', async () => {
    expect(await brokenRuntimeHostLaws(memoryRuntimeHost())).toEqual(new Map());
  });
});
