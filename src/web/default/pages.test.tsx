import { expect, it } from 'vitest';
import type { WebPage } from '../noun.ts';
import { ANSWERS } from '../testing/examples.ts';
import { rendered } from '../testing/rendered.tsx';
import { DefaultDetail, DefaultList } from './pages.tsx';
import { type ApiDocument, listAt } from './schema.ts';

const PLANTED = '<img src=x onerror=alert(1)>';
const text = { type: 'string' };

/** What the API says of a noun that has no page of its own. */
const DOCUMENT: ApiDocument = {
  paths: {
    '/api/v1/notes': {
      get: {
        summary: 'Lists notes.',
        responses: {
          '200': { content: { 'application/json': { schema: { $ref: '#/components/schemas/NoteList' } } } },
        },
      },
    },
    '/api/v1/notes/{note}': { get: {} },
    '/api/v1/health': { get: {} },
  },
  components: {
    schemas: {
      NoteList: {
        type: 'object',
        properties: { items: { type: 'array', items: { $ref: '#/components/schemas/Note' } } },
      },
      Note: {
        type: 'object',
        properties: {
          text,
          written_at: { type: 'string', format: 'date-time' },
          count: { type: 'integer' },
          inner: { type: 'object', properties: { text } },
          id: text,
        },
      },
    },
  },
};

const NOTE = {
  id: 'n1',
  text: `hello ${PLANTED}`,
  written_at: '2026-01-01T11:00:00.000Z',
  count: 3,
  inner: { text: 'deep' },
};

const pageOf = (path: string, page: WebPage['page']): WebPage => ({ path, page });
const answers = (path: string): unknown => ({ '/notes': { items: [NOTE] }, '/notes/n1': NOTE })[path] ?? ANSWERS[path];

it('a noun without a page gets a list from its schema: its name first, times as distances, each row a link to its detail', async () => {
  const listed = listAt('notes', DOCUMENT);
  if (!listed) throw new Error('There is no list.');
  const { text, server } = await rendered(
    pageOf('/notes', () => <DefaultList noun="notes" listed={listed} />),
    answers,
  );

  expect(Array.from(text.matchAll(/<th scope="col"[^>]*>([^<]*)</g), ([, title]) => title)).toEqual([
    'id',
    'text',
    'written at',
    'count',
  ]);
  expect(server.asked).toContain('/notes');
  expect(text).toContain('Lists notes.');
  expect(text).toContain('<a href="/notes/n1">n1</a>');
  expect(text).toContain('1 h ago');
  expect(text).not.toContain('<img');
});

it('pages are asked for only where the API has them', () => {
  const get = { ...DOCUMENT.paths['/api/v1/notes']?.get, parameters: [{ name: 'limit' }] };
  const paged: ApiDocument = { ...DOCUMENT, paths: { ...DOCUMENT.paths, '/api/v1/notes': { get } } };

  expect(listAt('notes', DOCUMENT)?.isWhole).toBe(true);
  expect(listAt('notes', paged)?.isWhole).toBe(false);
});

it('its detail shows all that the API says of it, as text', async () => {
  const { text } = await rendered(
    pageOf('/notes/n1', () => <DefaultDetail noun="notes" name="n1" />),
    answers,
  );

  expect(text).toContain('<dt>written at</dt>');
  expect(text).toContain('&quot;deep&quot;');
  expect(text).not.toContain('<img');
});

it('what answers with no list of rows has none', () => {
  expect(listAt('health', DOCUMENT)).toBeUndefined();
  expect(listAt('nothing', DOCUMENT)).toBeUndefined();
});
