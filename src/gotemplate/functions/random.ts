import { Fault } from '#core/fault.ts';
import { type Functions, fn, type TemplateRun } from './function.ts';

const DIGITS = '0123456789';
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const ASCII = Array.from({ length: 95 }, (_, n) => String.fromCharCode(32 + n)).join('');

function bytes({ random, budget }: TemplateRun, count: number): Uint8Array {
  if (!random) throw new Fault('unsupported', 'This template may not use random values.');
  if (count < 0) throw new Fault('invalid', 'runtime error: makeslice: len out of range');
  budget.write(count);
  budget.step(count / 4);
  return random(count);
}

/** A whole number below that, without favour. */
function below(most: number, run: TemplateRun): number {
  const limit = 2 ** 32 - (2 ** 32 % most);
  for (;;) {
    const value = Buffer.from(bytes(run, 4)).readUInt32BE();
    if (value < limit) return value % most;
  }
}

const drawn = (alphabet: string) =>
  fn(['int'], (count, run) => {
    run.budget.step(Math.max(0, count));
    return Array.from({ length: Math.max(0, count) }, () => alphabet[below(alphabet.length, run)]).join('');
  });

function uuid(run: TemplateRun): string {
  const random = Buffer.from(bytes(run, 16));
  random[6] = ((random[6] as number) & 0x0f) | 0x40;
  random[8] = ((random[8] as number) & 0x3f) | 0x80;
  return random.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function shuffled(text: string, run: TemplateRun): string {
  const chars = Array.from(text);
  run.budget.step(chars.length);
  for (let n = chars.length - 1; n > 0; n--) {
    const other = below(n + 1, run);
    [chars[n], chars[other]] = [chars[other] as string, chars[n] as string];
  }
  return chars.join('');
}

/** Sprig's functions for random values: there only where the caller hands in a source of them. */
export const randomFunctions: Functions = {
  randAlphaNum: drawn(DIGITS + LETTERS),
  randAlpha: drawn(LETTERS),
  randNumeric: drawn(DIGITS),
  randAscii: drawn(ASCII),
  randBytes: fn(['int'], (count, run) => Buffer.from(bytes(run, count)).toString('base64')),
  randInt: fn(['int', 'int'], (least, most, run) => {
    if (most <= least) throw new Fault('invalid', 'invalid argument to Intn');
    return least + below(most - least, run);
  }),
  shuffle: fn(['string'], shuffled),
  uuidv4: fn([], uuid),
};
