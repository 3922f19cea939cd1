import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readDocuments, splitDocuments } from './document-file.ts';

const nobody = new PassThrough();

test('a file with one document is sent as it stands', () => {
  const text = '# mine\n---\nname: a\n';

  expect(splitDocuments('a.yaml', text)).toEqual([{ key: 'a.yaml', text }]);
});

test('several are parted where YAML parts them, and empty ones are left out', () => {
  const text = '---\n# head\n---\nname: a\nrun: |\n  --- no\n  x---\n--- {name: b}\n...\n---\n';

  const documents = splitDocuments('p.yaml', text);

  expect(documents.map(({ key, text }) => [key, text.trimStart()])).toEqual([
    ['p.yaml#1', 'name: a\nrun: |\n  --- no\n  x---\n'],
    ['p.yaml#2', '{name: b}\n...\n'],
  ]);
});

test('each line of a document stands where it stands in the file, and it ends alike wherever it stands', () => {
  const lines = ['name: a', '---', 'name: b', 'max: 1', '---', 'name: c', ''];

  const [first, second, third] = splitDocuments('p.yaml', lines.join('\n'));

  expect(second?.text.split('\n')[2]).toBe('name: b');
  expect(second?.text.split('\n')[3]).toBe('max: 1');
  expect([first, second, third].map((document) => document?.text.trimStart())).toEqual([
    'name: a\n',
    'name: b\nmax: 1\n',
    'name: c\n',
  ]);
});

test('stdin is read to its end, however late its writer begins', async () => {
  const input = new PassThrough();

  const read = readDocuments(['-'], input);
  await turn();
  input.write('name: a\n---\n');
  await turn();
  input.end('name: b\n');

  expect((await read).map(({ key }) => key)).toEqual(['stdin#1', 'stdin#2']);
});

test('says why a file cannot be read, and what to do about a folder', async () => {
  await expect(readDocuments(['/nonexistent.yaml'], nobody)).rejects.toMatchObject({
    kind: 'missing',
    message: 'Cannot read /nonexistent.yaml: it does not exist.',
  });
  await expect(readDocuments([import.meta.dirname], nobody)).rejects.toMatchObject({
    kind: 'invalid',
    remedy: `Give its files: ${import.meta.dirname}/*.yaml`,
  });
});

test('a file or stdin without a document is refused here, where its name is known', async () => {
  const input = new PassThrough();
  input.end();

  await expect(readDocuments(['-'], input)).rejects.toMatchObject({ kind: 'invalid', message: 'stdin is empty.' });
  expect(() => splitDocuments('a.yaml', '# soon\n---\n')).toThrow('a.yaml holds no pool document.');
});
