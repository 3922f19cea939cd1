// Partial answers of Google's APIs: `fields=kind,items(name,size),nextPageToken`, or `items/name`.

type Body = Readonly<Record<string, unknown>>;

/** The parts of a list of fields, parted by commas outside of parentheses. */
function partsOf(fields: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const letter of fields) {
    if (letter === ',' && depth === 0) {
      parts.push(part);
      part = '';
      continue;
    }
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    part += letter;
  }
  return [...parts, part];
}

function picked(value: unknown, fields: string): unknown {
  if (Array.isArray(value)) return value.map((one) => picked(one, fields));
  return typeof value === 'object' && value !== null ? partOf(value as Body, fields) : value;
}

/** Of an answer, what its caller wants. */
export function partOf(body: Body, fields: string): Body {
  const wanted = partsOf(fields).map((part): [string, unknown] => {
    const [, key = '', below] = /^([^/(]+)(?:\((.*)\)|\/(.*))?$/.exec(part)?.filter((one) => one !== undefined) ?? [];
    if (key === '*') return ['*', body];
    return [key, below === undefined ? body[key] : picked(body[key], below)];
  });
  if (wanted.some(([key]) => key === '*')) return body;
  return Object.fromEntries(wanted.filter(([, value]) => value !== undefined));
}
