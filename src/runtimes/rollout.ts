// How a new version or changed templates reach the runtimes: a few at a time, and no further when they do not come up.
import { canonicalJson, shortHash } from '#config/canonical.ts';
import type { Runtime } from '#core/runtime.ts';
import type { RenderedRuntime } from '#core/runtime-host.ts';
import type { Store } from '#core/store.ts';
import type { RuntimeNotes } from './notes.ts';
import type { RuntimeSettings } from './section.ts';

export type RolloutLimits = Pick<RuntimeSettings, 'maxUpdating' | 'haltAfter'>;

/** What is new for a runtime without anyone having asked it of that one. */
export interface RolloutChange {
  readonly version?: string | undefined;
  /** Changed templates, as the host of runtimes names them. */
  readonly templates?: string | undefined;
}

export type RolloutAnswer =
  | { readonly may: true }
  | {
      readonly may: false;
      readonly reason: 'others-updating' | 'halted' | 'templates-halted';
      readonly why: string;
    };

/** Whether another runtime counts for a change: it was given the same. A pinned one has a version of its own. */
const isAbout = ({ version, templates }: RolloutChange, other: Runtime): boolean =>
  (version !== undefined && other.version === undefined && other.aim === version) ||
  (templates !== undefined && other.aimTemplates === templates);

/** Whether one more runtime may be given this change now. */
export function mayUpdate(change: RolloutChange, others: Iterable<Runtime>, limits: RolloutLimits): RolloutAnswer {
  const given = [...others].filter((other) => isAbout(change, other));
  const updating = given.filter(({ phase }) => phase === 'updating').length;
  const failed = given.filter(({ phase }) => phase === 'error').length;
  const { maxUpdating, haltAfter } = limits;
  if (failed >= haltAfter) return haltedAt(change, failed);
  // One that failed is followed by another only where that is needed to know whether to halt.
  if (updating < maxUpdating && updating + failed < Math.max(maxUpdating, haltAfter)) return { may: true };
  const inError = failed === 0 ? '' : `, and ${failed} did not become ready`;
  return { may: false, reason: 'others-updating', why: `${updating} other runtimes are being updated${inError}.` };
}

function haltedAt({ version }: RolloutChange, failed: number): RolloutAnswer {
  const them = failed === 1 ? '1 runtime' : `${failed} runtimes`;
  const what = version === undefined ? 'the new templates' : `version ${version}`;
  const reason = version === undefined ? 'templates-halted' : 'halted';
  return { may: false, reason, why: `${them} did not become ready with ${what}.` };
}

/** Stands for what callers asked of a runtime: another one is a request of theirs, and waits for no others. */
export function askedOf(runtime: Pick<Runtime, AskedField>): string {
  const { slots, version, annotations, environment, diskGb } = runtime;
  return shortHash(canonicalJson({ slots, version, annotations, environment, diskGb }));
}

type AskedField = 'slots' | 'version' | 'annotations' | 'environment' | 'diskGb';

/** What a runtime is to be now. */
export interface RolloutStep {
  /** The one that it has, while it waits for its turn to get a new one. */
  readonly version: string;
  /** Why it waits for its turn. */
  readonly waits?: string | undefined;
  /** Digest of what was applied, where it waits for the turn of changed templates: the former ones are gone. */
  readonly former?: string | undefined;
}

export interface Rollout {
  step(runtime: Runtime, render: (version: string) => Promise<RenderedRuntime>): Promise<RolloutStep>;
  /** The runtimes that come next when an update has ended. */
  next(): Iterable<string>;
}

export interface RolloutDeps extends RuntimeNotes {
  readonly store: Store;
  settings(): RuntimeSettings;
}

export function openRollout({ store, settings, note, decide }: RolloutDeps): Rollout {
  const waiting = new Set<string>();

  async function wait(runtime: Runtime, change: RolloutChange, answer: RolloutAnswer & { may: false }) {
    waiting.add(runtime.id);
    const { version = '' } = change;
    const given = { halted: { version }, 'templates-halted': {}, 'others-updating': { max_updating: limit() } };
    await decide(runtime.id, 'nothing', answer.reason, answer.why, given[answer.reason]);
  }

  const limit = (): number => settings().maxUpdating;

  return {
    async step(runtime, render) {
      const { id, provisioner, applied, version: pinned } = runtime;
      const { latestVersion, ...limits } = settings();
      const version = pinned ?? latestVersion;
      waiting.delete(id);
      if (!applied) return { version };
      const now = await render(pinned ?? applied.version);
      const change = changeOf(runtime, applied, latestVersion, now);
      if (!change || hasTurn(runtime, change)) return { version };
      const others = Iterator.from(store.view.runtimes.by('provisioner', provisioner)).filter((one) => one.id !== id);
      const answer = mayUpdate(change, others, limits);
      if (answer.may) {
        // Committed in the turn of the answer: the next pass already counts it.
        await note(runtime, 'updating', undefined, { aim: version, aimTemplates: now.templates });
        return { version };
      }
      await wait(runtime, change, answer);
      const former = change.templates === undefined ? undefined : applied.digest;
      return { version: pinned ?? applied.version, waits: answer.why, former };
    },
    next: () => [...Iterator.from(waiting).take(limit())],
  };
}

/** What is new since it was applied, beyond what callers asked of it; `now`: what its present version renders. */
function changeOf(
  runtime: Runtime,
  applied: NonNullable<Runtime['applied']>,
  latest: string,
  now: RenderedRuntime,
): RolloutChange | undefined {
  // A pinned version was asked for by name, so it waits for no others.
  const version = runtime.version === undefined && applied.version !== latest ? latest : undefined;
  // What earlier releases applied does not say what was asked; an edit sets the phase.
  const isAsked = applied.asked === undefined ? runtime.phase === 'updating' : applied.asked !== askedOf(runtime);
  const templates = !isAsked && now.digest !== applied.digest ? now.templates : undefined;
  return version === undefined && templates === undefined ? undefined : { version, templates };
}

/** It was given that change before, and has not got it yet or is in error with it: it is tried again. */
function hasTurn({ phase, aim, aimTemplates }: Runtime, { version, templates }: RolloutChange): boolean {
  if (phase !== 'updating' && phase !== 'error') return false;
  return (version === undefined || aim === version) && (templates === undefined || aimTemplates === templates);
}
