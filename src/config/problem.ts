import { Fault } from '#core/fault.ts';
import type { Problem } from '#core/problem.ts';
import type { TextPlace } from './tree.ts';

/** The whole result, or all problems; never a part. */
export type Parsed<T> =
  | { readonly value: T; readonly warnings: readonly Problem[]; readonly problems?: undefined }
  | { readonly problems: readonly Problem[]; readonly warnings: readonly Problem[]; readonly value?: undefined };

/** Further problems of one document are not worded: no answer shows more, and one may have thousands. */
export const MOST_PROBLEMS = 100;

export function problemAt(path: string, place: TextPlace | undefined, message: string): Problem {
  return { path, line: place?.line, column: place?.column, message };
}

/** `muster.yaml:12:5: agent_pools[0].name: must not be empty`. */
export function describeProblem({ path, line, column, message }: Problem, file?: string): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  return [place, path, message].filter((part) => part !== '').join(': ');
}

const MOST_SHOWN = 20;

/** All problems of a document as the one fault that refuses it. */
export function problemsFault(
  problems: readonly Problem[],
  file?: string,
  remedy = 'Correct these problems. Nothing of the document was applied.',
): Fault {
  const lines = problems.slice(0, MOST_SHOWN).map((problem) => describeProblem(problem, file));
  const left = problems.length - lines.length;
  if (left > 0) lines.push(`… and ${left} more`);
  const [first] = problems;
  const place = [file, first?.line, first?.column].filter((part) => part !== undefined).join(':');
  const at = [place, first?.path].filter(Boolean).join(' ');
  return new Fault('invalid', lines.join('\n'), {
    at: at || undefined,
    remedy,
  });
}
