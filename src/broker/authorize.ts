import type { Role } from '#core/access.ts';
import type { Clock } from '#core/clock.ts';
import type { Actor } from '#core/journal.ts';
import type { RpcCaller } from './method.ts';

/** Checks that the caller has this role, or throws a `Fault`. */
export type Authorize = (
  proof: { readonly token: string | undefined; readonly peerAddress: string },
  role: Role,
) => Actor | Promise<Actor>;

/** What every method for a role needs. */
export interface CallerCheck {
  readonly authorize: Authorize;
  readonly clock: Clock;
}

export function bearerOf(caller: RpcCaller): string | undefined {
  return /^Bearer\s+(\S+)\s*$/i.exec(caller.header('authorization') ?? '')?.[1];
}

export async function authorized(authorize: Authorize, caller: RpcCaller, role: Role): Promise<Actor> {
  return authorize({ token: bearerOf(caller), peerAddress: caller.peerAddress }, role);
}
