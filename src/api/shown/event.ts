import type { EventRow } from '#core/journal.ts';
import type { Store } from '#core/store.ts';
import type * as wire from '../wire/event.ts';
import { toTime } from '../wire/shared.ts';
import { withSnakeKeys } from './snake-keys.ts';

export function shownEvent(row: EventRow, store: Store): wire.Event {
  const { id, at, kind, subject, pool, who, from, message, fields } = row;
  const name = pool === undefined ? undefined : (store.view.pools.get(pool)?.name ?? pool);
  return { id, at: toTime(at), kind, subject, pool: name, who, from, message, fields: fields && withSnakeKeys(fields) };
}
