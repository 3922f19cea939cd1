import { z } from 'zod';
import { ROLES } from '#core/access.ts';
import { SESSION_COOKIE } from '../access/access.ts';
import type { ApiDeps } from './deps.ts';
import { PAGE_POLICY } from './html.ts';
import { isBrowser, loggedInPage } from './login-page.ts';
import type { Noun } from './noun.ts';
import { type Raw, type Route, route } from './route.ts';
import { Empty, toTime } from './wire/shared.ts';
import { LoginLink } from './wire/token.ts';

/** HttpOnly: no script reads it. Strict: no other site sends it. Secure: sent only over TLS, if the server uses TLS. */
function cookie(value: string, maxAgeMs: number, origin: string): string {
  const secure = origin.startsWith('https:') ? '; Secure' : '';
  const maxAge = Math.max(0, Math.floor(maxAgeMs / 1_000));
  return `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure}`;
}

/** Within `/api/v1`: links for browsers. */
function loginLinkRoutes({ access }: ApiDeps): Route[] {
  return [
    route({
      method: 'POST',
      path: '/login-links',
      role: 'viewer',
      summary:
        'Creates a link that logs one browser in. It works once, within five minutes, and has at most your own role.',
      body: z.strictObject({ role: z.enum(ROLES).optional() }).prefault({}),
      reply: LoginLink,
      status: 201,
      handle({ body, caller }) {
        const { code, expiresAt } = access.createLoginLink(body.role ?? caller.role, caller);
        return { path: `/login?code=${code}`, expires_at: toTime(expiresAt) };
      },
    }),
  ];
}

/** Outside of `/api/v1`: the target of such a link. */
function loginRoutes({ access, clock }: ApiDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/login',
      role: 'anyone',
      summary: 'Exchanges the code of a login link for a session of this browser.',
      query: z.strictObject({ code: z.string().min(1).max(200) }),
      reply: z.custom<Raw>(),
      media: ['text/plain', 'text/html'],
      status: 303,
      alsoStatus: 200,
      async handle({ query, caller, origin, headers, header, status }) {
        const { token, text } = await access.exchangeLogin(query.code, caller.from);
        header('set-cookie', cookie(text, (token.expiresAt ?? clock.now()) - clock.now(), origin));
        header('vary', 'accept');
        // A browser sends a strict cookie after no redirect that began on another site, such as a chat; it does so after our page.
        if (isBrowser('GET', headers)) {
          status(200);
          header('content-type', 'text/html; charset=utf-8');
          header('content-security-policy', PAGE_POLICY);
          return loggedInPage();
        }
        header('location', '/');
        return 'You are logged in.\n';
      },
    }),
    route({
      method: 'POST',
      path: '/logout',
      role: 'viewer',
      summary: 'Ends the session of this browser.',
      reply: Empty,
      status: 204,
      async handle({ caller, origin, header }) {
        if (caller.by === 'cookie') await access.revokeToken(caller.token, caller);
        header('set-cookie', cookie('', 0, origin));
        return undefined;
      },
    }),
  ];
}

export const noun: Noun = { tag: 'tokens', order: 110, routes: loginLinkRoutes, rootRoutes: loginRoutes };
