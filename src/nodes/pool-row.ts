import type { NodePoolRow } from '#core/node.ts';
import type { Store } from '#core/store.ts';

/** What is kept about a provisioner, also before anything was. */
export const poolRowOf = ({ view }: Store, name: string): NodePoolRow =>
  view.nodePools.get(name) ?? { id: name, setAside: [], evictedAt: [], freedAt: [] };
