import { expect, test } from 'vitest';
import { readDocuments, splitDocuments } from './document-file.ts';

test('a file with one document is sent as it stands', () => {
  const text = '# mine\n---\nname: a\n';

  expect(splitDocuments('a.yaml', text)).toEqual([{ key: 'a.yaml', text, placed: text }]);
});

test('several are parted where YAML parts them, and empty ones are nobody', () => {
  const text = '---\n# head\n---\nname: a\nrun: |\n  --- no\n  x---\n--- {name: b}\n...\n---\n';

  const documents = splitDocuments('p.yaml', text);

  expect(documents.map(({ key, text }) => [key, text])).toEqual([
    ['p.yaml#1', 'name: a\nrun: |\n  --- no\n  x---\n'],
    ['p.yaml#2', '{name: b}\n...\n'],
  ]);
});

test('each line of a placed document stands where it stands in the file', () => {
  const lines = ['name: a', '---', 'name: b', 'max: 1'];

  const [, second] = splitDocuments('p.yaml', lines.join('\n'));

  expect(second?.placed.split('\n')[2]).toBe('name: b');
  expect(second?.placed.split('\n')[3]).toBe('max: 1');
});

test('says why a file cannot be read, and what to do about a folder', () => {
  expect(() => readDocuments('/nonexistent.yaml')).toThrow('Cannot read /nonexistent.yaml: ENOENT.');
  expect(() => readDocuments(import.meta.dirname)).toThrow(
    expect.objectContaining({ remedy: `Name its files: ${import.meta.dirname}/*.yaml` }),
  );
});
