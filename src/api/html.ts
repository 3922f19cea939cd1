const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escaped = (text: string): string => text.replace(/[&<>"']/g, (letter) => ESCAPES[letter] ?? '');

/** Our pages are static and load nothing. */
export const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --line: #8884; }
code { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
`;

/** One page; `body` is HTML already. */
export function htmlPage(title: string, style: string, body: string): string {
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<title>${escaped(title)}</title><style>${STYLE}${style}</style></head><body>${body}</body></html>`
  );
}
