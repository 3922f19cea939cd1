import type { Source } from '../../api/wire/source.ts';

export const sourceHref = (id: string): string => `/sources/${encodeURIComponent(id)}`;

/** Pools that are written through the API are in force at once: nothing of it is read. */
export const isRead = ({ id, configured }: Source): boolean => configured && id !== 'api';

/** The one word for a source: what needs action comes first. */
export function sourceState(source: Source): { readonly word: string; readonly title?: string } {
  const { fault, held, faulty_documents: faulty, configured, last_good_at: goodAt } = source;
  if (fault) return { word: 'error', title: fault.message };
  if (held) return { word: 'held', title: held.why };
  if (faulty > 0) return { word: 'refused', title: 'Some documents are refused.' };
  if (!configured) return { word: 'removed', title: 'The configuration no longer has it.' };
  return { word: isRead(source) && goodAt === undefined ? 'pending' : 'ready' };
}
