import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '#core/random.ts';
import { readFacts, writeFacts } from './inputs.ts';
import { type Facts, type Plan, plan, type WorkerFact } from './plan.ts';
import { factsOf } from './testing/check.ts';
import { NOW_MS, someFacts } from './testing/facts.ts';

/** All of a plan but the names of workers, which the inputs do not hold, and when to look again. */
function decided({ actions, did, reason, also, why, unless, figures, alternatives }: Plan) {
  const counted = new Map<string, number>();
  for (const action of actions) {
    const what = action.do === 'launch' ? `launch ${action.count} ${action.offer}` : `${action.do} ${action.why}`;
    counted.set(what, (counted.get(what) ?? 0) + 1);
  }
  return { counted: [...counted].toSorted(), did, reason, also, why, unless, figures, alternatives };
}

const replayed = (facts: Facts): Plan => plan(readFacts(writeFacts(facts)));

/** By what was decided. */
function writtenBefore(): [string, string][] {
  const lines = readFileSync(join(import.meta.dirname, 'testing', 'inputs-1.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => {
    const { did, reason } = JSON.parse(line) as { did: string; reason: { code: string } };
    return [`${reason.code}, ${did}`, line];
  });
}

describe('the inputs of a decision', () => {
  it('give the same decision when it is computed again', () => {
    fc.assert(
      fc.property(someFacts, (facts) => {
        expect(decided(replayed(facts))).toEqual(decided(plan(facts)));
      }),
      { numRuns: 1_500 },
    );
  });

  it('give the same decision where workers of several sizes may go, at ages that decide which', () => {
    const workers = fc
      .array(
        fc.record({
          phase: fc.constantFrom('idle', 'idle', 'idle', 'booting', 'launching'),
          slots: fc.constantFrom(1, 2, 8),
          agoMs: fc.integer({ min: 0, max: 1_000_000 }),
          pricePerHour: fc.constantFrom(undefined, 0, 0.1, 3),
          isOutdated: fc.boolean(),
        }),
        { maxLength: 12 },
      )
      .map((all) =>
        all.map(({ agoMs, ...rest }, at): WorkerFact => {
          return { ...rest, name: `w${at}`, freeSlots: rest.slots, sinceMs: NOW_MS - agoMs };
        }),
      );
    fc.assert(
      fc.property(someFacts, workers, (some, mixed) => {
        const facts = { ...some, workers: mixed, isPaused: false, isFrozen: false, isRemoving: false, queued: 0 };

        expect(decided(replayed(facts))).toEqual(decided(plan(facts)));
      }),
      { numRuns: 1_500 },
    );
  });

  it('are written again as they were', () => {
    fc.assert(
      fc.property(someFacts, (facts) => {
        const written = writeFacts(facts);

        expect(writeFacts(readFacts(written))).toBe(written);
      }),
      { numRuns: 500 },
    );
  });

  it.each(writtenBefore())('of the first version are read, and lead to the decision of then: %s', (_what, line) => {
    const { inputs, ...then } = JSON.parse(line) as { inputs: string };
    const { did, reason, also } = plan(readFacts(inputs));

    expect({ did, reason, also }).toEqual(then);
  });

  it.each([
    ['', 'no JSON'],
    ['null', 'version undefined'],
    ['{"workers":""}', 'version undefined'],
    ['{"v":2}', 'of version 2, and this server reads up to 1'],
    [writeFacts(factsOf('idle')).replace('1 idle', 'one idle'), '"one idle 1/1" is no group of workers'],
  ])('that no version of this server wrote are refused: %s', (inputs, why) => {
    expect(() => readFacts(inputs)).toThrow(
      expect.objectContaining({ kind: 'unsupported', message: expect.stringContaining(why) }) as Error,
    );
  });

  it('take at most 1 KB for 1,000 workers of three offers, in every phase and at every age', () => {
    const random = seededRandom(7);
    const uniform = (below: number): number => Math.floor(random.next() * below);
    const offers = ['64f913c91149', 'a0b1c2d3e4f5', '0123456789ab'].map((id, at) => ({
      id,
      pricePerHour: 0.5 + at,
      maxAgents: 600,
    }));
    const phases = [
      'idle',
      'idle',
      'busy',
      'busy',
      'busy',
      'booting',
      'launching',
      'draining',
      'lost',
      'deleting',
    ] as const;
    const workers = Array.from({ length: 1_000 }, (_, at): WorkerFact => {
      const phase = phases[uniform(phases.length)] ?? 'idle';
      const offer = offers[uniform(3)];
      return {
        name: `m-gpu-62m035yk-${at}`,
        phase,
        slots: 1,
        freeSlots: phase === 'busy' ? 0 : 1,
        sinceMs: NOW_MS - uniform(2_000_000),
        offer: offer?.id,
        pricePerHour: offer?.pricePerHour,
      };
    });
    const facts = factsOf(
      '',
      { maxAgents: 1_200, minIdleSlots: 50, maxPricePerHour: 2_000 },
      { nowMs: NOW_MS, workers, offers },
    );

    expect(writeFacts(facts).length).toBeLessThanOrEqual(1_024);
    expect(decided(replayed(facts))).toEqual(decided(plan(facts)));
  });

  it.each([
    ['phase', { phase: 'busy' }],
    ['size', { slots: 2 }],
    ['free slots', { freeSlots: 0 }],
    ['offer', { offer: 'b' }],
    ['price', { pricePerHour: 2 }],
    ['definition', { isOutdated: true }],
    ['state of rest', { isStopping: true }],
  ] satisfies [string, Partial<WorkerFact>][])('tell two workers apart by their %s', (_what, over) => {
    const one: WorkerFact = { name: 'w0', phase: 'idle', slots: 1, freeSlots: 1, sinceMs: NOW_MS, offer: 'a' };
    const written = ({ workers }: { workers: WorkerFact[] }): string =>
      (JSON.parse(writeFacts(factsOf('', {}, { workers, offers: [{ id: 'a' }, { id: 'b' }] }))) as { workers: string })
        .workers;

    expect(written({ workers: [one, one, { ...one, ...over }] })).toMatch(/^2 idle 1\/1@0; 1 /);
    expect(written({ workers: [one, { ...one, ...over }, one] })).toMatch(/^2 idle 1\/1@0; 1 /);
  });
});
