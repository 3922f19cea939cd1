import { z } from 'zod';
import type { Token as TokenRow } from '#core/access.ts';
import { Fault } from '#core/fault.ts';
import type { ApiDeps } from './deps.ts';
import type { Noun } from './noun.ts';
import { selectPage } from './page.ts';
import { findPool } from './pools.ts';
import { type Route, route } from './route.ts';
import { Name, paging, toTime, toTimeIf } from './wire/shared.ts';
import * as wire from './wire/token.ts';

function shownToken({ use, ...token }: TokenRow, { store, clock }: ApiDeps): wire.Token {
  return {
    id: token.id,
    name: token.name,
    ...('role' in use ? { role: use.role } : { join: store.view.pools.get(use.join)?.name ?? use.join }),
    created_at: toTime(token.createdAt),
    created_by: token.createdBy,
    expires_at: toTimeIf(token.expiresAt),
    expired: token.expiresAt !== undefined && token.expiresAt <= clock.now(),
  };
}

/** For agents of pools with `agent_auth: mtls`. */
function certifying({ access }: ApiDeps): Route {
  return route({
    method: 'POST',
    path: '/agent-certificates',
    role: 'admin',
    summary: 'Creates a client certificate for one agent, or for all agents of a pool. Its key is shown only once.',
    body: z.strictObject({
      name: z.string().min(1).max(64).meta({ description: 'Name of the agent, or of its pool.' }),
    }),
    reply: wire.AgentCertificate,
    status: 201,
    handle: ({ body }) => ({
      name: body.name,
      ...access.issueAgentCertificate(body.name),
      ca: access.ca.certificate,
    }),
  });
}

function mustLast({ expires_in: forMs }: z.output<typeof wire.TokenIn>): void {
  if (forMs === undefined || forMs > 0) return;
  throw new Fault('invalid', 'The token would expire at once.', {
    at: 'body.expires_in',
    remedy: 'Give a longer time, or leave it out for a token that never expires.',
  });
}

function tokenRoutes(deps: ApiDeps): Route[] {
  const { store, clock, access } = deps;
  return [
    route({
      method: 'GET',
      path: '/tokens',
      role: 'admin',
      summary: 'Lists tokens, oldest first. The server does not store their texts.',
      query: z.strictObject(paging),
      reply: wire.TokenList,
      handle({ query }) {
        const page = selectPage(store.view.tokens.all(), { ...query, keyOf: (token) => token.id });
        return { items: page.items.map((token) => shownToken(token, deps)), next: page.next };
      },
    }),
    route({
      method: 'POST',
      path: '/tokens',
      role: 'admin',
      summary: 'Creates an API token, or a join token for the agents of a pool. Its text is shown only once.',
      body: wire.TokenIn,
      reply: wire.NewToken,
      status: 201,
      async handle({ body, caller }) {
        mustLast(body);
        const use = 'role' in body ? { role: body.role } : { join: findPool(store, body.join).id };
        const expiresAt = body.expires_in === undefined ? undefined : clock.now() + body.expires_in;
        const { token, text } = await access.createToken({ name: body.name, use, expiresAt }, caller);
        return { ...shownToken(token, deps), token: text };
      },
    }),
    route({
      method: 'DELETE',
      path: '/tokens/:token',
      role: 'admin',
      summary: 'Revokes a token, by its id.',
      params: z.object({ token: Name }),
      reply: wire.Token,
      handle: async ({ params, caller }) => shownToken(await access.revokeToken(params.token, caller), deps),
    }),
    certifying(deps),
  ];
}

export const noun: Noun = { tag: 'tokens', order: 100, routes: tokenRoutes };
