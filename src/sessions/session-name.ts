import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import { calledName, type Session } from '#core/session.ts';
import type { Store } from '#core/store.ts';
import type { SessionRequest } from './sessions.ts';

type Named = Pick<Session, 'name' | 'part'>;

/** Started together: many sessions of one caller may come in several requests, each with its own number. */
function isSamePart(one: Named, other: Named): boolean {
  return one.part !== undefined && one.part.count === other.part?.count && one.part.index !== other.part.index;
}

function taken(request: Named, holder: Session, at: string): Fault {
  const whose = `session ${holder.id} in pool ${holder.poolName}, started by ${holder.by}`;
  return new Fault('conflict', `The name "${request.name}" is taken by ${whose}.`, {
    at,
    remedy: `Choose another name, or end it with \`muster session kill ${calledName(holder)}\`.`,
  });
}

/** Throws a `Fault` for the first name that an unended session has, or that is given twice here. */
export function checkNames({ view }: Pick<Store, 'view'>, requests: readonly SessionRequest[], { who }: Actor): void {
  const seen = new Map<string, SessionRequest>();
  for (const [index, request] of requests.entries()) {
    if (request.name === undefined) continue;
    const at = `[${index}].name`;
    for (const holder of view.sessions.by('name', request.name)) {
      if (holder.by !== who || !isSamePart(request, holder)) throw taken(request, holder, at);
    }
    const called = calledName(request) as string;
    const other = seen.get(called) ?? seen.get(request.name);
    if (other && !isSamePart(request, other)) {
      throw new Fault('conflict', `The name "${called}" is given twice in this request.`, {
        at,
        remedy: 'Give each session a name of its own, or give them `index` and `count`.',
      });
    }
    seen.set(called, request).set(request.name, request);
  }
}
