// How a new version reaches the runtimes that are not pinned: a few at a time, and no further when they do not come up.
import type { Runtime } from '#core/runtime.ts';

export interface RolloutLimits {
  readonly maxUpdating: number;
  readonly haltAfter: number;
}

export type RolloutAnswer =
  | { readonly may: true }
  | { readonly may: false; readonly reason: 'others-updating' | 'halted'; readonly why: string };

/** Whether one more runtime may be updated to this version now. */
export function mayUpdate(version: string, others: Iterable<Runtime>, limits: RolloutLimits): RolloutAnswer {
  let updating = 0;
  let failed = 0;
  for (const { aim, phase, version: pinned } of others) {
    if (pinned !== undefined || aim !== version) continue;
    if (phase === 'updating') updating += 1;
    if (phase === 'error') failed += 1;
  }
  if (failed >= limits.haltAfter) {
    const them = failed === 1 ? '1 runtime' : `${failed} runtimes`;
    return { may: false, reason: 'halted', why: `${them} did not become ready with version ${version}.` };
  }
  if (updating >= limits.maxUpdating) {
    return { may: false, reason: 'others-updating', why: `${updating} other runtimes are being updated.` };
  }
  return { may: true };
}
