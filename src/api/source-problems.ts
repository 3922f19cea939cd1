import { FAULTS } from '#core/fault.ts';
import { API_SOURCE, type SourceState } from '#core/source.ts';
import { approveCommand } from '../pools/status.ts';
import type { ApiDeps } from './deps.ts';
import type { ReportedProblem } from './fleet-problems.ts';

const aboutSource = (id: string) => ({
  urgency: 'source' as const,
  subject: `source/${id}`,
  link: `/sources/${encodeURIComponent(id)}`,
});

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

/** It cannot be read, or what it no longer defines waits for approval. */
function* ofSource({ id, fault, held }: SourceState): Iterable<ReportedProblem> {
  if (fault) {
    const { kind, message, remedy, at } = fault;
    const said = { what: `It cannot be read: ${kind}: ${message}`, remedy: remedy || FAULTS[kind].remedy };
    yield { id: `source/${id}`, ...aboutSource(id), since: at, said: () => said };
  }
  if (held) {
    const count = held.keys.length;
    const what = `It no longer defines ${counted(count, 'pool')}, whose removal waits for approval. ${held.why}`;
    const remedy = `Define them again, or remove them: \`${approveCommand(id, count)}\`.`;
    yield { id: `held/${id}`, ...aboutSource(id), since: held.at, said: () => ({ what, remedy }) };
  }
}

/** Documents that form no pool, or not the one that they say. */
function refusedIn({ store }: ApiDeps, source: string): ReportedProblem | undefined {
  const count = store.view.documents.count('faulty', source);
  const [first] = Iterator.from(store.view.documents.by('faulty', source)).take(1);
  if (!first) return undefined;
  const { key, fault, readAt } = first;
  const more = count > 1 ? `, and ${counted(count - 1, 'more document')}` : '';
  return {
    ...{ id: `refused/${source}`, ...aboutSource(source), since: count > 1 ? undefined : readAt },
    said: () => ({
      what: `Refused: ${key}: ${fault?.message ?? ''}${more}`,
      remedy: `Correct what \`muster source show ${source}\` names.`,
    }),
  };
}

export function* sourceProblems(deps: ApiDeps): Iterable<ReportedProblem> {
  for (const source of deps.store.view.sources.all()) {
    yield* ofSource(source);
    const refused = refusedIn(deps, source.id);
    if (refused) yield refused;
  }
  const refused = refusedIn(deps, API_SOURCE);
  if (refused) yield refused;
}
