const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '"': '\\"', '\\': '\\\\' };

/** A text of HCL; `${` and `%{` in it are no templates. */
export function hclText(text: string): string {
  const escaped = text
    .replace(/["\\\p{Cc}]/gu, (odd) => ESCAPES[odd] ?? `\\u${odd.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/[$%](?=\{)/g, '$&$&');
  return `"${escaped}"`;
}
