import { toSnake } from '../../config/keys.ts';

/** Figures under the names of the wire. Only the names of the figures themselves: what is inside may be a user's own. */
export function withSnakeKeys<V>(figures: Readonly<Record<string, V>>): Record<string, V> {
  return Object.fromEntries(Object.entries(figures).map(([key, value]) => [toSnake(key), value]));
}
