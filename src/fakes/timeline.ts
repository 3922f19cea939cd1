// The states of a fake machine on a line of time: no timer is needed for one to follow another.

/** From then on the machine is in that state. */
export interface Step<State extends string> {
  readonly atMs: number;
  readonly state: State;
}

export type Timeline<S extends Step<string>> = readonly S[];

/** The step at a moment; undefined before the first. */
export function stepAt<S extends Step<string>>(timeline: Timeline<S>, atMs: number): S | undefined {
  return timeline.findLast((step) => step.atMs <= atMs);
}

/** The timeline with these steps to come; what lies before the first of them is kept. */
export function follow<S extends Step<string>>(timeline: Timeline<S>, steps: readonly [S, ...S[]]): Timeline<S> {
  return [...timeline.filter((step) => step.atMs <= steps[0].atMs), ...steps];
}

/** When the next state comes; undefined if none is planned. */
export function nextStepMs(timeline: Timeline<Step<string>>, nowMs: number): number | undefined {
  return timeline.find(({ atMs }) => atMs > nowMs)?.atMs;
}
