// Why a pool has fewer nodes than it counts: its operations say so, and in newer clusters its health.
import type { Trouble } from '#core/provider.ts';
import type { HealthIssue, NodePool, Operation } from '../api.ts';
import { messageOf } from '../client.ts';

const isAbout = ({ metadata, result }: Operation, { id }: NodePool): boolean =>
  JSON.stringify([metadata, result]).includes(`"${id}"`);

/** What an operation that succeeded in part says. */
function partialError({ result }: Operation): string | undefined {
  const { details } = (result ?? {}) as { readonly details?: { readonly error?: string } };
  return details?.error || undefined;
}

/** A growth that fails in this way fails for want of machines, unless its words say otherwise. */
const troubleOf = (message: string): Trouble => ({
  kind: /quota/i.test(message) ? 'quota' : 'exhausted',
  reason: 'SCALE_UP_FAILED',
  message: `Crusoe does not give the pool all of its nodes: ${message}.`.replace(/[.]{2}$/, '.'),
  final: true,
});

const KINDS: Readonly<Record<string, Trouble['kind']>> = {
  INSUFFICIENT_CAPACITY: 'exhausted',
  INSUFFICIENT_QUOTA: 'quota',
};

function ofHealth({ code = '', message = '' }: HealthIssue): readonly Trouble[] {
  const kind = KINDS[code];
  return kind
    ? [{ kind, reason: code, message: `Crusoe does not give the pool all of its nodes: ${message}`, final: false }]
    : [];
}

/** Nothing while nodes may still come. */
export function shortfallOf(pool: NodePool, operations: readonly Operation[]): Trouble | undefined {
  const [unhealthy] = (pool.health?.issues ?? []).flatMap(ofHealth);
  if (unhealthy) return unhealthy;
  const own = operations.filter((one) => isAbout(one, pool));
  const latest = own.toSorted((a, b) => Date.parse(a.started_at ?? '') - Date.parse(b.started_at ?? '')).at(-1);
  if (!latest || latest.state === 'IN_PROGRESS') return undefined;
  if (latest.state === 'FAILED') return troubleOf(messageOf(latest));
  const partial = partialError(latest);
  return partial === undefined ? undefined : troubleOf(partial);
}
