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

/** Of an answer, what its caller wants; several parts about one key count together, as gcloud writes them. */
export function partOf(body: Body, fields: string): Body {
  const wanted = new Map<string, string[]>();
  for (const part of partsOf(fields)) {
    const [, key = '', inner, below] = /^([^/(]+)(?:\((.*)\)|\/(.*))?$/.exec(part) ?? [];
    wanted.set(key, [...(wanted.get(key) ?? []), inner ?? below ?? '*']);
  }
  if (wanted.has('*')) return body;
  const parts = [...wanted].map(([key, of]): [string, unknown] => [key, picked(body[key], of.join(','))]);
  return Object.fromEntries(parts.filter(([, value]) => value !== undefined));
}
