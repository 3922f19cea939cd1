// What Muster says of a pool, in the words of the object that defines it.
import { isLaunchName } from '#core/id.ts';
import type { DocumentReport, ReportedDecision } from '#core/source.ts';
import { PATHS } from './document.ts';

const last = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

/** `max_agents` → `maxReplicas`. The sentences of decisions shorten the keys of idle slots. */
const KEYS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(PATHS).map(([key, path]) => [last(key), last(path)] as const),
  ['min_idle', 'minIdle'],
  ['max_idle', 'maxIdle'],
]);

// A key below another is one that the writer wrote: it stays.
const KEY = /(?<![.\w])[a-z]+(?:_[a-z]+)+\b/g;
const BACKEND = /\b(the next|each|a|its) backend(s?)\b/g;

const inObjectWords = (text: string): string =>
  text.replace(KEY, (key) => KEYS.get(key) ?? key).replace(BACKEND, '$1 template$2');

const NAME = /[a-z][a-z0-9-]*[a-z0-9]/g;

/**
 * Without the random end of pod names: a refused pod never existed, and each retry has another name. A status that
 * repeats it would be written at each retry.
 */
const withoutPodNames = (text: string): string =>
  text.replace(NAME, (name) => (isLaunchName(name) ? name.replace(/[^-]+$/, '*') : name));

const decided = (decision: ReportedDecision | undefined): ReportedDecision | undefined =>
  decision && { ...decision, why: inObjectWords(withoutPodNames(decision.why)) };

/** Two AgentPools of one name in two namespaces: only the second is at fault. */
function faultIn({ fault, takenBy }: DocumentReport): DocumentReport['fault'] {
  if (!fault) return undefined;
  if (!takenBy?.isSameKind) return { ...fault, message: inObjectWords(fault.message) };
  const name = takenBy.key.slice(takenBy.key.indexOf('/') + 1);
  const message =
    `AgentPool ${takenBy.key} has the name ${name}. ` +
    'Rename this one or delete the other; this one takes its place when the other is gone.';
  return { ...fault, message };
}

/** The same report as its writer reads it. */
export function reportForWriter(report: DocumentReport): DocumentReport {
  const { trouble, decision, lastAction } = report;
  const said = trouble && inObjectWords(trouble.message);
  return {
    ...report,
    fault: faultIn(report),
    decision: decided(decision),
    lastAction: decided(lastAction),
    trouble: trouble && {
      ...trouble,
      message: trouble.reason === 'LaunchFailed' ? withoutPodNames(said ?? '') : (said ?? ''),
    },
  };
}
