import { type Problem, problemText } from '#core/problem.ts';
import { oneLine } from './table.ts';

interface Refused {
  readonly message: string;
  readonly place?: string | undefined;
  readonly problems?: readonly Problem[] | undefined;
}

/** What is wrong with a document, one problem a line; without a list, the message with its place. */
export function problemLines({ message, place, problems = [] }: Refused): readonly string[] {
  if (problems.length > 0) return problems.map((problem) => oneLine(problemText(problem)));
  return [oneLine(place === undefined ? message : `${place}: ${message}`)];
}
