import type { DocumentProblem } from '../../api/wire/problem.ts';
import { Prose } from './prose.tsx';

/** All that is wrong with a document, each with its line and column. */
export function ProblemList({ problems }: { readonly problems: readonly DocumentProblem[] }) {
  return (
    <ul class="events">
      {problems.map(({ path, line, column, message, remedy }) => (
        <li key={`${path}${message}`}>
          {line !== undefined && (
            <span class="mono">
              {line}:{column ?? 1}{' '}
            </span>
          )}
          {path !== '' && <code>{path} </code>}
          <Prose text={message} /> {remedy && <Prose text={remedy} />}
        </li>
      ))}
    </ul>
  );
}
