// What Muster says of a pool, in the words of the object that defines it.
import { isLaunchName } from '#core/id.ts';
import type { DocumentReport } from '#core/source.ts';

const NAME = /[a-z][a-z0-9-]*[a-z0-9]/g;

/**
 * Without the random end of pod names: a refused pod never existed, and each retry has another name. A status that
 * repeats it would be written at each retry.
 */
const withoutPodNames = (text: string): string =>
  text.replace(NAME, (name) => (isLaunchName(name) ? name.replace(/[^-]+$/, '*') : name));

/** The same report as its writer reads it. */
export function reportForWriter(report: DocumentReport): DocumentReport {
  const { trouble } = report;
  return {
    ...report,
    trouble: trouble?.reason === 'LaunchFailed' ? { ...trouble, message: withoutPodNames(trouble.message) } : trouble,
  };
}
