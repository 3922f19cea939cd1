// What stands on a page in place of data: nothing there yet, still loading, refused, failed.
import type { ComponentChildren } from 'preact';
import type { HttpProblem } from '../../api/wire/problem.ts';
import { ProblemList } from './problem-list.tsx';
import { Prose } from './prose.tsx';

interface EmptyProps {
  /** What would stand here. */
  readonly children: ComponentChildren;
  /** The command that makes the first one. */
  readonly command?: string;
}

/** There are none: what they are, and how to make the first. */
export function Empty({ children, command }: EmptyProps) {
  return (
    <div class="standing">
      <p>{children}</p>
      {command && (
        <pre tabIndex={0}>
          <code>{command}</code>
        </pre>
      )}
    </div>
  );
}

/** Rows without content; the style shows them only after a moment. */
export function Loading({ rows = 6 }: { readonly rows?: number }) {
  return (
    <div class="loading" role="status">
      <span class="only-read">Loading</span>
      {Array.from({ length: rows }, (_, at) => (
        <div key={at} class="skeleton" />
      ))}
    </div>
  );
}

/** Why something is not shown or was not done, and what to do about it. */
export function Trouble({ problem }: { readonly problem: HttpProblem }) {
  const isDenied = problem.kind === 'denied';
  return (
    <div class="standing trouble" role="alert">
      <p>
        <strong>{isDenied ? 'Your role may not see this.' : problem.detail}</strong>
      </p>
      {isDenied && <p>{problem.detail}</p>}
      <p>
        <Prose text={problem.remedy} />
      </p>
      {problem.problems && <ProblemList problems={problem.problems} />}
    </div>
  );
}

interface AskedProps<T> {
  readonly asked: { readonly value?: T; readonly problem?: HttpProblem };
  readonly rows?: number;
  readonly children: (value: T) => ComponentChildren;
}

/** An answer, or what stands in its place. What is known stays when the server is away: the frame says so. */
export function Shown<T>({ asked: { value, problem }, rows, children }: AskedProps<T>) {
  if (problem && (value === undefined || problem.kind !== 'unavailable')) return <Trouble problem={problem} />;
  if (value === undefined) return <Loading {...(rows !== undefined && { rows })} />;
  return <>{children(value)}</>;
}
