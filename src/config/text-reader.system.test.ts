import { expect, it } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { openTextReader } from './text-reader.ts';
import { FOREIGN_LIMITS } from './yaml-document.ts';

/** How often others had their turn while something went on. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  await work();
  clearInterval(timer);
  return turns;
}

const SIZE = 64 * 1_024;
const lines = (line: (at: number) => string): string => {
  let text = '';
  for (let at = 0; text.length < SIZE - 100; at++) text += line(at);
  return text;
};

it('texts that take seconds to parse hold up nothing, and are refused', async () => {
  const reader = openTextReader(systemClock);
  const texts = ['['.repeat(SIZE), '- '.repeat(SIZE / 2), lines((at) => `k${at}: \n`)];
  // Starts the thread, which is no part of the question.
  await reader.read(
    lines(() => '# \n'),
    FOREIGN_LIMITS,
  );
  const read: unknown[] = [];

  const turns = await turnsDuring(async () => {
    for (const text of texts) read.push(await reader.read(text, FOREIGN_LIMITS));
  });

  expect(read).toEqual(texts.map(() => expect.objectContaining({ problems: expect.anything() })));
  // Read here, they would leave one turn between each two.
  expect(turns).toBeGreaterThan(100);
});

it('a short text of nothing but brackets is not read on the event loop either', async () => {
  const reader = openTextReader(systemClock);

  expect(reader.read('['.repeat(2_000), FOREIGN_LIMITS)).toBeInstanceOf(Promise);
  expect(reader.read('name: a\nlabels: {x: y}\n', FOREIGN_LIMITS)).not.toBeInstanceOf(Promise);
});

it('a refused text is not read again', async () => {
  const reader = openTextReader(systemClock);
  const text = '['.repeat(10_000);
  const first = await reader.read(text, FOREIGN_LIMITS);

  expect(reader.read(text, FOREIGN_LIMITS)).toBe(first);
});

it('texts of several callers are all read, each by its own limits', async () => {
  const reader = openTextReader(systemClock);
  const text = `name: a\ndescription: ${'x'.repeat(10_000)}`;

  const [all, none] = await Promise.all([
    reader.read(text, FOREIGN_LIMITS),
    reader.read(text, { ...FOREIGN_LIMITS, depth: 0 }),
  ]);

  expect(all.value).toMatchObject({ is: 'map' });
  expect(none.problems?.[0]?.message).toContain('nested deeper');
});

it('a document with more values than any pool has is refused, with one problem', async () => {
  const reader = openTextReader(systemClock);
  const { problems } = await reader.read(`[${'1,'.repeat(5_000)}1]`, FOREIGN_LIMITS);

  expect(problems).toMatchObject([{ message: 'has more than 5000 values' }]);
});
