// What people write in place of the whole id of a session.
import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import { nearest } from '#core/nearest.ts';
import { calledName, SESSION_NAME, type Session } from '#core/session.ts';
import type { Store } from '#core/store.ts';
import { type Finder, missing } from './find.ts';

export const LAST = '@last';

// A shorter one names the sessions of several days.
const SHORTEST_PREFIX = 4;
const ID_BEGINNING = /^[0-9a-z]+$/;
const MOST_NAMED = 3;
// `@last` looks through this many ended sessions of others, page by page.
const LAST_PAGES = 10;
const PAGE = 1_000;

const newestFirst = (a: Session, b: Session): number => (a.id < b.id ? 1 : -1);

const ambiguous = (message: string, remedy: string): Fault =>
  new Fault('invalid', message, { at: 'path.session', remedy });

export function openReferences(store: Store, finder: Finder) {
  const { view, history } = store;

  /** The newest ended session of a caller; `than`: only if it is newer. */
  async function lastEnded(who: string, than = ''): Promise<Session | undefined> {
    let after: string | undefined;
    for (let page = 0; page < LAST_PAGES; page++) {
      const rows = await history.ended({}, { after, limit: PAGE, order: 'newest first' });
      const found = rows.find((row) => row.by === who || row.id < than);
      if (found || rows.length < PAGE) return found && found.id > than ? found : undefined;
      after = rows.at(-1)?.id;
    }
    return undefined;
  }

  async function lastOf({ who }: Actor): Promise<Session> {
    const own = Iterator.from(view.sessions.all()).filter(({ by }) => by === who);
    const [live] = own.toArray().toSorted(newestFirst);
    await store.durable();
    const found = (await lastEnded(who, live?.id)) ?? live;
    if (found) return found;
    throw new Fault('missing', `${who} has started no session that is still kept, so there is no ${LAST}.`, {
      at: 'path.session',
      remedy: 'Start one with `muster run -- COMMAND`, or list sessions with `muster session ls`.',
    });
  }

  /** Unended ones first: only they have the name for themselves. */
  async function named(text: string): Promise<Session | undefined> {
    const [name = '', place] = text.split('/', 2);
    if (!SESSION_NAME.test(name) || text.split('/').length > 2) return undefined;
    const isMeant = ({ part }: Session): boolean => place === undefined || String(part?.index) === place;
    const live = Array.from(view.sessions.by('name', name)).toSorted(newestFirst);
    await store.durable();
    const found =
      live.find(isMeant) ?? (await history.ended({ name }, { limit: PAGE, order: 'newest first' })).find(isMeant);
    const count = found?.part?.count ?? 1;
    if (place !== undefined || count === 1) return found;
    throw ambiguous(`${name} names ${count} sessions.`, `Name one of them: ${name}/0 to ${name}/${count - 1}.`);
  }

  async function beginningWith(text: string): Promise<Session | undefined> {
    if (text.length < SHORTEST_PREFIX || !ID_BEGINNING.test(text)) return undefined;
    const page = { after: text, limit: MOST_NAMED + 1, order: 'oldest first' } as const;
    const rows = [...view.sessions.all(), ...(await history.ended({}, page))];
    const found = new Map(rows.filter(({ id }) => id.startsWith(text)).map((row) => [row.id, row]));
    if (found.size <= 1) return found.values().next().value;
    const ids = [...found.keys()].toSorted().slice(0, MOST_NAMED);
    const more = found.size > ids.length ? ' and others' : '';
    throw ambiguous(`Several sessions begin with ${text}: ${ids.join(', ')}${more}.`, 'Write more of the id.');
  }

  function unknown(text: string): Fault {
    const { message } = missing(text);
    const refused = (remedy: string): Fault => new Fault('missing', message, { at: 'path.session', remedy });
    if (view.computers.count('name', text) > 0)
      return refused(`${text} is a computer: see \`muster computer --help\` for what it can do.`);
    if (text.length < SHORTEST_PREFIX && ID_BEGINNING.test(text) && /\d/.test(text))
      return refused(`Write at least ${SHORTEST_PREFIX} characters of an id.`);
    const names = new Set(Array.from(view.sessions.all(), calledName).filter((name) => name !== undefined));
    const meant = nearest(text, [...names]);
    return meant === undefined ? missing(text) : refused(`Did you mean ${meant}?`);
  }

  return async (text: string, actor: Actor): Promise<Session> => {
    if (text === LAST) return lastOf(actor);
    const found = (await finder.find(text)) ?? (await named(text)) ?? (await beginningWith(text));
    if (found) return found;
    throw unknown(text);
  };
}
