// Since when a Deployment has been unfinished, or its pod refused. A namespace is listed through whichever of its backends
// was opened last, so all that read the same view share this.
import type { Clock } from '#core/clock.ts';
import { type FirstSeen, openFirstSeen } from '../first-seen.ts';
import { type Deployment, isUnfinished } from './machine.ts';

export interface SlowDeployments {
  /** What a listing shows. */
  note(deployments: readonly Deployment[]): void;
  waitedMs(deployment: Deployment): number;
}

// Goes with the view.
const OPENED = new WeakMap<ReadonlyMap<string, Deployment>, FirstSeen>();

const isSlow = (deployment: Deployment): boolean => isUnfinished(deployment) || deployment.status.refused !== undefined;

/** The one memory of that view. */
export function slowDeployments(view: ReadonlyMap<string, Deployment>, clock: Clock): SlowDeployments {
  const seen = OPENED.get(view) ?? openFirstSeen(clock);
  OPENED.set(view, seen);
  return {
    note: (all) => seen.note(all.filter(isSlow).map(({ metadata }) => metadata.uid ?? '')),
    waitedMs: ({ metadata }) => seen.sinceMs(metadata.uid),
  };
}
