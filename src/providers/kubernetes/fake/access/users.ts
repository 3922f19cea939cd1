// Who calls: by bearer token, or the administrator where none is shown.
import type { Clock } from '#core/clock.ts';
import type { Random } from '#core/random.ts';
import type { KubeCall } from '../wire/read-call.ts';
import { refuse } from '../wire/status.ts';

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

export interface Users {
  /** Whether calls without a token are those of the administrator; else they are refused. */
  admitsAnyone: boolean;
  /** A new token for a user; it is refused when its time is over. */
  issue(user: string, lifeMs?: number): string;
  revoke(token: string): void;
  /** Throws 401 for a token that is unknown or over. */
  of(call: KubeCall): User;
}

const ADMIN: User = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };
const ACCOUNT = /^system:serviceaccount:([^:]+):[^:]+$/;

/** With the groups that follow from the name. */
function userNamed(name: string, groups: readonly string[] = []): User {
  const namespace = ACCOUNT.exec(name)?.[1];
  const implied = namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return { name, groups: [...groups, ...implied, 'system:authenticated'] };
}

const unauthorized = (): Error => refuse('Unauthorized', 'Unauthorized');

const FOREVER_MS = Number.POSITIVE_INFINITY;

export function openUsers(clock: Clock, random: Random): Users {
  const known = new Map<string, { readonly user: User; readonly untilMs: number }>();

  function caller(header: string | null): User {
    if (header === null && users.admitsAnyone) return ADMIN;
    const [, token = ''] = /^Bearer (.+)$/.exec(header ?? '') ?? [];
    const found = known.get(token);
    if (!found || found.untilMs <= clock.now()) throw unauthorized();
    return found.user;
  }

  const users: Users = {
    admitsAnyone: true,
    issue(user, lifeMs = FOREVER_MS) {
      const token = Buffer.from(random.bytes(24)).toString('base64url');
      known.set(token, { user: user === ADMIN.name ? ADMIN : userNamed(user), untilMs: clock.now() + lifeMs });
      return token;
    },
    revoke: (token) => void known.delete(token),
    of({ headers }) {
      const user = caller(headers.get('authorization'));
      const played = headers.get('impersonate-user');
      if (played === null) return user;
      if (!user.groups.includes('system:masters')) {
        throw refuse(
          'Forbidden',
          `users "${played}" is forbidden: User "${user.name}" cannot impersonate resource "users" in API group "" at the cluster scope`,
        );
      }
      const groups = headers.get('impersonate-group');
      return userNamed(played, groups === null ? [] : groups.split(',').map((group) => group.trim()));
    },
  };
  return users;
}
