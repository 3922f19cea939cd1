// How a new version reaches the runtimes that are not pinned: a few at a time, and no further when they do not come up.
import type { Runtime } from '#core/runtime.ts';
import type { Store } from '#core/store.ts';
import type { RuntimeNotes } from './notes.ts';
import type { RuntimeSettings } from './section.ts';

export type RolloutLimits = Pick<RuntimeSettings, 'maxUpdating' | 'haltAfter'>;

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

export interface Rollout {
  /** The version that it is to run now: the one that it has, while it waits for its turn to get a new one. */
  versionNow(runtime: Runtime): Promise<{ readonly version: string; readonly isWaiting: boolean }>;
  /** The runtimes that come next when an update has ended. */
  next(): Iterable<string>;
}

export interface RolloutDeps extends RuntimeNotes {
  readonly store: Store;
  settings(): RuntimeSettings;
}

export function openRollout({ store, settings, note, decide }: RolloutDeps): Rollout {
  const waiting = new Set<string>();
  return {
    async versionNow(runtime) {
      const { id, provisioner, applied, aim, phase, version: pinned } = runtime;
      const { latestVersion, ...limits } = settings();
      const version = pinned ?? latestVersion;
      waiting.delete(id);
      // A pinned version was asked for by name, so it waits for no others.
      const isNew = pinned === undefined && applied !== undefined && applied.version !== version;
      const hasTurn = phase === 'updating' && aim === version;
      if (!isNew || hasTurn) return { version, isWaiting: false };
      const all = Iterator.from(store.view.runtimes.by('provisioner', provisioner));
      const answer = mayUpdate(
        version,
        all.filter((other) => other.id !== id),
        limits,
      );
      if (answer.may) {
        // Committed in the turn of the answer: the next pass already counts it.
        await note(runtime, 'updating', undefined, { aim: version });
        return { version, isWaiting: false };
      }
      waiting.add(id);
      const given = answer.reason === 'halted' ? { version } : { max_updating: limits.maxUpdating };
      await decide(id, 'nothing', answer.reason, answer.why, given);
      return { version: applied.version, isWaiting: true };
    },
    next: () => [...Iterator.from(waiting).take(settings().maxUpdating)],
  };
}
