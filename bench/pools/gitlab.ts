import { MINUTE_MS } from '#core/clock.ts';
import type { Planner } from '../../src/foresight/model.ts';
import { peerPlanner } from './peer.ts';

export interface GitlabSettings {
  readonly idleCount: number;
  /** Of the instances in use, so many more are kept idle; 0 is the default. */
  readonly scaleFactor: number;
  /** `scale_factor_limit`: most idle instances that the factor asks for. */
  readonly scaleFactorLimit?: number;
  readonly idleTimeMs?: number;
}

/** The policy of GitLab Runner's autoscaler: https://docs.gitlab.com/runner/configuration/advanced-configuration/ */
export function gitlab(settings: GitlabSettings): Planner {
  const { idleCount, scaleFactor, scaleFactorLimit = 100, idleTimeMs = 5 * MINUTE_MS } = settings;
  return peerPlanner({
    spare: (_facts, inUse) => Math.max(idleCount, Math.min(scaleFactorLimit, inUse * scaleFactor)),
    emptyMs: idleTimeMs,
  });
}
