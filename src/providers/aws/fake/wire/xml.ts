/** A list whose members are not called as the protocol calls them elsewhere. */
export class NamedMembers {
  readonly name: string;
  readonly texts: readonly string[];

  constructor(name: string, texts: readonly string[]) {
    this.name = name;
    this.texts = texts;
  }
}

export type Xml =
  | string
  | number
  | boolean
  | undefined
  | NamedMembers
  | readonly Xml[]
  | { readonly [name: string]: Xml };

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#xD;',
};

const escaped = (text: string): string => text.replace(/[&<>"\r]/g, (sign) => ESCAPES[sign] as string);

/** Writes a value as the inside of an element; members of a list stand in elements of the name `member`. */
export function renderXml(value: Xml, member: string): string {
  if (value === undefined) return '';
  if (typeof value !== 'object') return escaped(String(value));
  if (value instanceof NamedMembers) return renderXml(value.texts, value.name);
  if (Array.isArray(value)) {
    return value.map((each) => `<${member}>${renderXml(each, member)}</${member}>`).join('');
  }
  return Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]) => `<${name}>${renderXml(each, member)}</${name}>`)
    .join('');
}

export function xmlResponse(status: number, xml: string): Response {
  return new Response(`<?xml version="1.0" encoding="UTF-8"?>\n${xml}`, {
    status,
    headers: { 'content-type': 'text/xml;charset=UTF-8' },
  });
}
