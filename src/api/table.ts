import { agentRoutes } from './agent.ts';
import type { ChangeHub } from './change-hub.ts';
import { changeRoutes } from './changes.ts';
import type { ApiDeps } from './deps.ts';
import { docRoutes } from './docs.ts';
import { eventRoutes } from './events.ts';
import { freezeRoutes } from './freezes.ts';
import { healthRoutes } from './health.ts';
import { loginLinkRoutes, loginRoutes } from './logins.ts';
import { outputRoutes } from './output.ts';
import { planRoutes } from './plans.ts';
import { poolRoutes } from './pools.ts';
import type { Route } from './route.ts';
import { serverRoutes } from './server.ts';
import { sessionRoutes } from './sessions.ts';
import { sourceRoutes } from './sources.ts';
import { tokenRoutes } from './tokens.ts';
import { workerRoutes } from './workers.ts';

export const API_PREFIX = '/api/v1';

/** Every route there is: what is served, who may call it, and what the documentation says. */
export function allRoutes(deps: ApiDeps, hub: ChangeHub): Route[] {
  const nouns = [
    ...poolRoutes(deps),
    ...planRoutes(deps),
    ...workerRoutes(deps),
    ...sessionRoutes(deps),
    ...outputRoutes(deps),
    ...eventRoutes(deps),
    ...changeRoutes(deps, hub),
    ...sourceRoutes(deps),
    ...freezeRoutes(deps),
    ...tokenRoutes(deps),
    ...loginLinkRoutes(deps),
    ...serverRoutes(deps),
  ].map((route) => ({ ...route, path: API_PREFIX + route.path }));
  const rest = [...healthRoutes(deps), ...loginRoutes(deps), ...agentRoutes(deps)];
  const all = [...nouns, ...rest];
  return [...all, ...docRoutes(deps, all)];
}
