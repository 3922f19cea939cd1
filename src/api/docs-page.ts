import { escaped, htmlPage } from './html.ts';
import type { OpenApi, Operation } from './openapi.ts';
import { contentWords, type JsonSchema, type Marks, schemaWords } from './schema-words.ts';

const STYLE = `
body { max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin: 2.5rem 0 .5rem; }
h3 { margin: 2rem 0 .25rem; font-size: 1.05rem; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
details { border-top: 1px solid var(--line); }
summary { cursor: pointer; display: grid; grid-template-columns: 1rem 4.5rem minmax(0, 22rem) minmax(0, 1fr); gap: 0 .75rem; padding: .5rem 0; }
summary::before { content: '▸'; }
[open] > summary::before { content: '▾'; }
summary:hover { background: #8881; }
details > div { padding: 0 0 1rem 1.75rem; }
.method { font-weight: 600; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .3rem 1rem .3rem 0; vertical-align: top; border-bottom: 1px solid var(--line); }
td code, td:first-child { overflow-wrap: normal; white-space: nowrap; }
th { font-weight: 600; font-size: .85em; }
.table { overflow-x: auto; }
@media (max-width: 45rem) {
  summary { grid-template-columns: 1rem 4.5rem minmax(0, 1fr); }
  summary > :last-child { grid-column: 2 / -1; }
  details > div { padding-left: 0; }
}
`;

const code = (text: string): string => `<code>${escaped(text)}</code>`;
/** Text in which `code` is set in backquotes. */
const prose = (text: string): string => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');

const MARKS: Marks = {
  code,
  link: (name) => `<a href="#schema-${escaped(name)}">${escaped(name)}</a>`,
};

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const row = (tag: string, cells: readonly string[]): string =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<div class="table"><table>${row('th', head)}${rows.map((cells) => row('td', cells)).join('')}</table></div>`;
}

function parameterRow({ name, in: place, required, description = '', schema }: Parameter): string[] {
  const fallback = schema.default === undefined ? '' : code(JSON.stringify(schema.default));
  return [code(name), escaped(place), schemaWords(schema, MARKS), required ? 'required' : fallback, prose(description)];
}

function operation(path: string, method: string, it: Operation): string {
  const { default: _, ...answers } = it.responses;
  const [answer = {}] = Object.values(answers);
  const body = it.requestBody ? contentWords(it.requestBody, MARKS) : '';
  const reply = contentWords(answer, MARKS);
  const rows = (it.parameters as unknown as readonly Parameter[]).map(parameterRow);
  // The id stands inside: a link to it opens it.
  return (
    `<details><summary><span class="method">${escaped(method.toUpperCase())}</span>` +
    `${code(path)}<span>${prose(it.summary)}</span></summary><div id="${escaped(it.operationId)}">` +
    `<p>${prose(it.description)}</p>${table(['Parameter', 'In', 'Type', 'Default', 'Meaning'], rows)}` +
    (body === '' ? '' : `<p>Takes ${body}.</p>`) +
    `<p>Answers ${escaped(Object.keys(answers).join(' or '))}${reply === '' ? '' : `: ${reply}`}.</p></div></details>`
  );
}

function schemaSection(id: string, schema: JsonSchema): string {
  const { properties, required = [] } = schema;
  const rows = Object.entries(properties ?? {}).map(([key, inner]) => [
    code(key),
    schemaWords(inner, MARKS),
    required.includes(key) ? 'yes' : '',
    prose(inner.description ?? ''),
  ]);
  const content = properties
    ? table(['Key', 'Type', 'Always', 'Meaning'], rows)
    : `<p>${schemaWords(schema, MARKS)}</p>`;
  return `<h3 id="schema-${escaped(id)}">${escaped(id)}</h3>${content}`;
}

function operationsByNoun({ paths }: OpenApi): ReadonlyMap<string, readonly string[]> {
  const byNoun = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, it] of Object.entries(methods)) {
      const noun = it.tags[0] ?? '';
      byNoun.set(noun, [...(byNoun.get(noun) ?? []), operation(path, method, it)]);
    }
  }
  return byNoun;
}

/** The OpenAPI document for people: one static page that loads nothing. */
export function docsPage(document: OpenApi): string {
  const byNoun = operationsByNoun(document);
  const links = [...byNoun.keys(), 'schemas'].map((noun) => `<a href="#${escaped(noun)}">${escaped(noun)}</a>`);
  const nouns = [...byNoun].map(([noun, parts]) => `<h2 id="${escaped(noun)}">${escaped(noun)}</h2>${parts.join('')}`);
  const schemas = Object.entries(document.components.schemas as Readonly<Record<string, JsonSchema>>)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, schema]) => schemaSection(id, schema));
  const { title, version, description } = document.info;
  return htmlPage(
    `${title} API`,
    STYLE,
    `<h1>${escaped(title)} ${escaped(version)}</h1>` +
      `<p>${prose(description)} Programs read the same as <a href="/openapi.json">openapi.json</a>.</p>` +
      `<p>Send a token as <code>Authorization: Bearer TOKEN</code>. Failures answer with ${MARKS.link('Problem')}.</p>` +
      `<nav>${links.join('')}</nav>${nouns.join('')}<h2 id="schemas">schemas</h2>${schemas.join('')}`,
  );
}
