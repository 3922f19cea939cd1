import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OutputIndex, type OutputPiece, type OutputStream, openIndex } from './output-index.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-index-'));
  path = join(folder, 'index');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Step = { add: OutputStream; length: number } | { ack: number } | 'reopen';

function checkSteps(steps: readonly Step[]): void {
  rmSync(path, { force: true });
  let index = openIndex(path);
  let acked = 0;
  const first = new Map<number, OutputPiece>();
  for (const step of steps) {
    if (step === 'reopen') {
      index.close();
      index = openIndex(path);
    } else if ('add' in step) index.add(step.add, step.length);
    else {
      acked = Math.min(index.lastSeq, Math.max(acked, step.ack));
      index.ack(acked);
    }
    checkWaiting(index, acked, first);
  }
  index.close();
}

/** Nothing that is not acknowledged is missing, and each number still means what it meant. */
function checkWaiting({ waiting, lastSeq }: OutputIndex, acked: number, first: Map<number, OutputPiece>): void {
  const numbers = waiting.map(({ seq }) => seq);
  expect(numbers).toEqual(numbers.map((_, at) => lastSeq - numbers.length + at + 1));
  expect((numbers[0] ?? lastSeq + 1) - 1).toBeLessThanOrEqual(acked);
  for (const piece of waiting) {
    expect(first.get(piece.seq) ?? piece).toEqual(piece);
    first.set(piece.seq, piece);
  }
}

describe('the index of output', () => {
  it('numbers pieces across both streams and knows their places', () => {
    const index = openIndex(path);
    index.add('stdout', 10);
    index.add('stderr', 5);
    index.add('stdout', 7);

    expect(index.waiting).toEqual([
      { seq: 1, stream: 'stdout', offset: 0, length: 10 },
      { seq: 2, stream: 'stderr', offset: 0, length: 5 },
      { seq: 3, stream: 'stdout', offset: 10, length: 7 },
    ]);
    expect(index.ends).toEqual({ stdout: 17, stderr: 5 });
    index.close();
  });

  it('gives the same numbers to the same bytes whenever it is opened again', () => {
    const stream = fc.constantFrom('stdout' as const, 'stderr' as const);
    const step = fc.oneof(
      fc.record({ add: stream, length: fc.integer({ min: 1, max: 65_536 }) }),
      fc.record({ ack: fc.integer({ min: 0, max: 40 }) }),
      fc.constant('reopen' as const),
    );
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), checkSteps), { numRuns: 200 });
  });

  it('forgets what is acknowledged once it is much, and then calls it needless', () => {
    let index = openIndex(path);
    for (let count = 0; count < 100; count++) index.add('stdout', 65_536);
    index.ack(90);

    expect(index.needless).toEqual({ stdout: 90 * 65_536, stderr: 0 });
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(12);
    index.close();
    index = openIndex(path);
    expect(index.waiting[0]).toEqual({ seq: 91, stream: 'stdout', offset: 90 * 65_536, length: 65_536 });
    expect(index.lastSeq).toBe(100);
    index.close();
  });

  it('goes on in its old file while a full disk has no room for a new one', () => {
    let index = openIndex(path);
    for (let count = 0; count < 100; count++) index.add('stdout', 65_536);
    // As on a full disk: it cannot be written anew.
    mkdirSync(`${path}.draft`);
    expect(() => index.ack(90)).toThrow();

    index.add('stderr', 3);
    rmSync(`${path}.draft`, { recursive: true });
    index.close();
    index = openIndex(path);

    expect(index.waiting.at(-1)).toEqual({ seq: 101, stream: 'stderr', offset: 0, length: 3 });
    index.close();
  });

  it('overlooks a line that a loss of power tore off', () => {
    let index = openIndex(path);
    index.add('stdout', 10);
    index.close();
    appendFileSync(path, 'stdo');

    index = openIndex(path);
    index.add('stderr', 3);
    index.close();
    index = openIndex(path);

    expect(index.waiting.map(({ stream, length }) => `${stream} ${length}`)).toEqual(['stdout 10', 'stderr 3']);
    index.close();
  });

  it('remembers the cut and the note about it, also when all before is forgotten', () => {
    let index = openIndex(path);
    for (let count = 0; count < 70; count++) index.add('stdout', 65_536);
    index.setCut({ stdout: 70 * 65_536, stderr: 0 });
    index.addNote('cut "here"\n');
    expect(index.waiting.at(-1)).toMatchObject({ seq: 71, stream: 'stderr', length: 0, note: 'cut "here"\n' });
    index.ack(71);
    index.close();

    index = openIndex(path);

    expect(index.cut).toEqual({ stdout: 70 * 65_536, stderr: 0 });
    expect(index.isNoted).toBe(true);
    expect(index.waiting).toEqual([]);
    expect(index.lastSeq).toBe(71);
    index.close();
  });
});
