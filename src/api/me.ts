import type { Token } from '#core/access.ts';
import type { ApiDeps } from './deps.ts';
import type { Noun } from './noun.ts';
import { type Route, route } from './route.ts';
import { toTimeIf } from './wire/shared.ts';
import { Me } from './wire/token.ts';

/** A browser has a token of its own, which goes with the one that its login link came from: people know that one. */
function knownName(store: ApiDeps['store'], token: Token): string {
  const parent = token.parent === undefined ? undefined : store.view.tokens.get(token.parent);
  return parent ? knownName(store, parent) : token.name;
}

function meRoutes({ store }: ApiDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/me',
      role: 'viewer',
      summary: 'Shows the caller: the name and role of its token, and when that expires.',
      reply: Me,
      handle({ caller }) {
        const token = store.view.tokens.get(caller.token);
        return {
          name: token ? knownName(store, token) : caller.who,
          who: caller.who,
          role: caller.role,
          expires_at: toTimeIf(token?.expiresAt),
          is_cookie: caller.by === 'cookie',
        };
      },
    }),
  ];
}

export const noun: Noun = { tag: 'tokens', order: 105, routes: meRoutes };
