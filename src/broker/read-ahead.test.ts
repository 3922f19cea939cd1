import { describe, expect, it } from 'vitest';
import { readAhead } from './read-ahead.ts';

function sourcesOf(texts: readonly string[]) {
  const opened: string[] = [];
  const closed: string[] = [];
  async function* read(text: string): AsyncGenerator<string> {
    opened.push(text);
    try {
      for (const letter of text) {
        if (letter === '!') throw new Error(`${text} cannot be read`);
        yield letter;
      }
    } finally {
      closed.push(text);
    }
  }
  return { sources: texts.map(read), opened, closed };
}

describe('sources that are read ahead', () => {
  it('come in their order, each to its end', async () => {
    const { sources } = sourcesOf(['ab', '', 'c', 'def']);

    let text = '';
    for await (const letter of readAhead(sources, 2)) text += letter;

    expect(text).toBe('abcdef');
  });

  it('are opened no further ahead than asked', async () => {
    const { sources, opened } = sourcesOf(['ab', 'cd', 'ef', 'gh']);
    const reading = readAhead(sources, 1);

    await reading.next();
    expect(opened).toEqual(['ab', 'cd']);
    await reading.next();
    await reading.next();
    expect(opened).toEqual(['ab', 'cd', 'ef']);
  });

  it('are all closed when the reader leaves early', async () => {
    const { sources, closed } = sourcesOf(['ab', 'cd', 'ef', 'gh']);

    for await (const letter of readAhead(sources, 1)) if (letter === 'a') break;

    expect(closed).toEqual(['ab', 'cd']);
  });

  it('fail only in their turn, and close the others', async () => {
    const { sources, closed } = sourcesOf(['ab', '!', 'ef']);
    const reading = readAhead(sources, 2);

    expect([(await reading.next()).value, (await reading.next()).value]).toEqual(['a', 'b']);
    await expect(reading.next()).rejects.toThrow('cannot be read');
    expect(closed).toContain('ef');
  });
});
