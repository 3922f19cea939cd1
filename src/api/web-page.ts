import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import type { ApiDeps } from './deps.ts';
import { isBrowser } from './login-page.ts';
import type { Noun } from './noun.ts';
import { type Raw, type Route, route } from './route.ts';

/** A file of the dashboard, packed with gzip. */
export interface WebFile {
  readonly mediaType: string;
  readonly gzipped: Buffer;
}

/** The files of the dashboard by their names; `index.html` is its one page. A name is never joined to a path. */
export interface WebFiles {
  find(name: string): Promise<WebFile | undefined>;
}

/**
 * Scripts and data come from this server alone. Inline styles are allowed because the terminal of xterm writes style
 * elements: without them it has no colours and no layout.
 */
export const DASHBOARD_POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const FOREVER = 'private, max-age=31536000, immutable';

interface Sending {
  readonly headers: IncomingHttpHeaders;
  header(name: string, value: string): void;
}

/** Packed, unless the client reads no gzip. */
function sent({ mediaType, gzipped }: WebFile, { headers, header }: Sending): Buffer {
  header('content-type', `${mediaType}; charset=utf-8`);
  header('vary', 'accept-encoding');
  if (!/\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))) return gunzipSync(gzipped);
  header('content-encoding', 'gzip');
  return gzipped;
}

/** The page of the dashboard, the same for each of its paths. */
export async function dashboardPage({ webFiles }: Pick<ApiDeps, 'webFiles'>, sending: Sending): Promise<Buffer> {
  const page = await webFiles.find('index.html');
  if (!page) throw new Fault('unsupported', 'This server has no dashboard.', { remedy: 'Use the command muster.' });
  sending.header('content-security-policy', DASHBOARD_POLICY);
  return sent(page, sending);
}

function webRoutes(deps: ApiDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/',
      role: 'viewer',
      summary: 'The dashboard for browsers; programs are redirected to the documentation.',
      reply: z.custom<Raw>(),
      media: ['text/html'],
      async handle({ headers, header, status }) {
        header('vary', 'accept');
        if (isBrowser('GET', headers)) return dashboardPage(deps, { headers, header });
        status(302);
        header('content-type', 'text/plain');
        header('location', '/docs');
        return 'See /docs.\n';
      },
    }),
    route({
      method: 'GET',
      path: '/assets/:file',
      role: 'viewer',
      summary: 'A file of the dashboard; its name changes with its content.',
      params: z.object({ file: z.string().max(200) }),
      reply: z.custom<Raw>(),
      media: ['application/octet-stream'],
      async handle({ params, headers, header }) {
        const file = params.file === 'index.html' ? undefined : await deps.webFiles.find(params.file);
        if (!file) throw new Fault('missing', `There is no file ${params.file}.`, { remedy: 'Load the page again.' });
        header('cache-control', FOREVER);
        return sent(file, { headers, header });
      },
    }),
  ];
}

export const noun: Noun = { tag: 'server', order: 170, rootRoutes: webRoutes };
