/** One thing that is wrong in a document, or worth a warning, and where. */
export interface Problem {
  /** As the user wrote it: `agent_pools[0].auto_scaler.max_agents`; empty for the document itself. */
  readonly path: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly message: string;
  readonly remedy?: string | undefined;
}

/** `line 4, column 3: auto_scaler.max_agents`; nothing where it is about the whole document. */
export function placeOfProblem({ path, line, column }: Problem): string | undefined {
  const spot = line === undefined ? '' : `line ${line}${column === undefined ? '' : `, column ${column}`}`;
  return [spot, path].filter(Boolean).join(': ') || undefined;
}

/** The place and what is wrong there, as one line. */
export function problemText(problem: Problem): string {
  const place = placeOfProblem(problem);
  return place ? `${place}: ${problem.message}` : problem.message;
}
