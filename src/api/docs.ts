import { z } from 'zod';
import type { ApiDeps } from './deps.ts';
import { docsPage } from './docs-page.ts';
import { PAGE_POLICY } from './html.ts';
import type { Noun, WholeApi } from './noun.ts';
import { type OpenApi, openApi } from './openapi.ts';
import { type Raw, type Route, route } from './route.ts';

/** What the API says of itself, drawn from the table of all routes. */
function docRoutes({ server, clock }: ApiDeps, { routes }: WholeApi): Route[] {
  // Created at the first request, to keep the start fast.
  let document: Promise<OpenApi> | undefined;
  let page: string | undefined;
  const written = (): Promise<OpenApi> => {
    document ??= openApi(routes(), server.version, clock);
    return document;
  };
  return [
    route({
      method: 'GET',
      path: '/openapi.json',
      role: 'viewer',
      summary: 'This API as OpenAPI 3.1.',
      reply: z.record(z.string(), z.unknown()),
      handle: written,
    }),
    route({
      method: 'GET',
      path: '/docs',
      role: 'viewer',
      summary: 'This API as a page for people.',
      reply: z.custom<Raw>(),
      media: ['text/html'],
      async handle({ header }) {
        header('content-security-policy', PAGE_POLICY);
        page ??= docsPage(await written());
        return page;
      },
    }),
  ];
}

export const noun: Noun = { tag: 'server', order: 160, rootRoutes: docRoutes };
