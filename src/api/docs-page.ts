import type { OpenApi, Operation } from './openapi.ts';

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
pre { overflow: auto; padding: .75rem; border: 1px solid #8884; border-radius: .4rem; }
details { border-bottom: 1px solid #8884; padding: .4rem 0; }
summary { cursor: pointer; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 600; }
table { border-collapse: collapse; }
td, th { text-align: left; padding: .15rem .8rem .15rem 0; vertical-align: top; }
`;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (letter) => ESCAPES[letter] ?? '');
/** Text in which `code` is set in backquotes. */
const prose = (text: string): string => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');

const json = (value: unknown): string => {
  const text = escaped(JSON.stringify(value, null, 2));
  return text.replace(/&quot;#\/components\/schemas\/(\w+)&quot;/g, '<a href="#schema-$1">$1</a>');
};

interface Parameter {
  readonly name?: unknown;
  readonly in?: unknown;
  readonly description?: unknown;
  readonly schema?: unknown;
}

function parameters(list: readonly Parameter[]): string {
  if (list.length === 0) return '';
  const rows = list.map(
    ({ name, in: place, description, schema }) =>
      `<tr><td><code>${escaped(String(name))}</code></td><td>${escaped(String(place))}</td>` +
      `<td>${prose(String(description ?? ''))} <code>${escaped(JSON.stringify(schema))}</code></td></tr>`,
  );
  return `<table>${rows.join('')}</table>`;
}

function operation(path: string, method: string, it: Operation): string {
  const body = it.requestBody ? `<p>Takes</p><pre>${json(it.requestBody.content)}</pre>` : '';
  const answers = Object.entries(it.responses).map(
    ([status, answer]) => `<p>${escaped(status)}</p><pre>${json(answer)}</pre>`,
  );
  return (
    `<details id="${escaped(it.operationId)}"><summary><span class="method">${escaped(method.toUpperCase())}</span>` +
    `<code>${escaped(path)}</code> ${prose(it.summary)}</summary>` +
    `<p>${prose(it.description)}</p>${parameters(it.parameters)}${body}${answers.join('')}</details>`
  );
}

/** The OpenAPI document for people: one static page that loads nothing. */
export function docsPage(document: OpenApi): string {
  const byNoun = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, it] of Object.entries(methods)) {
      const noun = it.tags[0] ?? '';
      byNoun.set(noun, [...(byNoun.get(noun) ?? []), operation(path, method, it)]);
    }
  }
  const nouns = [...byNoun].map(([noun, parts]) => `<h2>${escaped(noun)}</h2>${parts.join('')}`);
  const schemas = Object.entries(document.components.schemas).map(
    ([id, schema]) =>
      `<details id="schema-${escaped(id)}"><summary><code>${escaped(id)}</code></summary><pre>${json(schema)}</pre></details>`,
  );
  const { title, version, description } = document.info;
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${escaped(title)} API</title><style>${STYLE}</style></head><body><h1>${escaped(title)} ${escaped(version)}</h1>` +
    `<p>${prose(description)} The same as <a href="/openapi.json">openapi.json</a>.</p>` +
    `${nouns.join('')}<h2>Schemas</h2>${schemas.join('')}</body></html>`
  );
}
