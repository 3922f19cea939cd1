import type { Pool } from '../../api/wire/pool.ts';

export const poolHref = (name: string): string => `/pools/${encodeURIComponent(name)}`;

/** The one word for a pool: what stops it comes before what it is. */
export function poolState({ phase, frozen, held, trouble }: Pool): { readonly word: string; readonly title?: string } {
  if (frozen) return { word: 'frozen', title: frozen.why };
  if (phase === 'active' && trouble !== undefined) return { word: 'error', title: trouble };
  if (held) return { word: 'held', title: held.why };
  return { word: phase };
}
