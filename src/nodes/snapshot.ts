// What the last pass over a provisioner has seen and decided: status, API and the passes over others read it.
import type { KubeObject } from '#kube/object.ts';
import type { Evaluation } from './evaluate.ts';
import type { Obstacle } from './group-finder.ts';
import type { Decided } from './next-step.ts';
import type { Policy } from './policy.ts';
import type { NodeSurvey, SeenGroup } from './survey.ts';

export interface Snapshot {
  readonly name: string;
  readonly at: number;
  readonly object: KubeObject;
  readonly policy?: Policy | undefined;
  readonly groups: readonly SeenGroup[];
  /** Ids of the groups that it sizes. */
  readonly groupIds: readonly string[];
  readonly survey?: NodeSurvey | undefined;
  readonly evaluation?: Evaluation | undefined;
  readonly decided?: Decided | undefined;
  readonly pending: number;
  /** Pods that ask for its nodes and that none of them would help, or that are set aside, by key with what keeps them. */
  readonly unfit: ReadonlyMap<string, string>;
  /** Why it is not served. */
  readonly obstacle?: Obstacle | undefined;
}
