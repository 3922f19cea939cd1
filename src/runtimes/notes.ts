// What a pass commits about a runtime: its phase with its event, and why something was done.
import type { Clock } from '#core/clock.ts';
import type { Runtime, RuntimePhase } from '#core/runtime.ts';
import { put, type Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import { type RuntimeReason, runtimeSubject } from './reasons.ts';
import { askedOf } from './rollout.ts';

export interface RuntimeNotes {
  /**
   * Commits the phase that a pass found, with its event; nothing where it reads the same. `runtime` is the row that the
   * pass began with: where another request has come since, that request has set the phase, and only `more` is kept.
   */
  note(runtime: Runtime, phase: RuntimePhase, why?: string, more?: Partial<Runtime>): Promise<void>;
  decide(id: string, did: string, code: RuntimeReason, why: string, given?: Settings): Promise<void>;
}

type Settings = Readonly<Record<string, string | number>>;

const asksTheSame = (a: Runtime, b: Runtime): boolean => a.wanted === b.wanted && askedOf(a) === askedOf(b);

export function openNotes({ store, clock, journal }: NotesDeps): RuntimeNotes {
  return {
    async note(runtime, phase, why, more = {}) {
      const { id, createdAt } = runtime;
      const before = store.view.runtimes.get(id);
      if (before?.createdAt !== createdAt) return;
      const found = asksTheSame(before, runtime) ? { phase, why } : { phase: before.phase, why: before.why };
      const isSamePhase = before.phase === found.phase;
      if (isSamePhase && before.why === found.why && Object.keys(more).length === 0) return;
      const after: Runtime = { ...before, ...more, ...found, since: isSamePhase ? before.since : clock.now() };
      const message = found.why ?? `Runtime ${id} is ${found.phase}.`;
      const events = isSamePhase
        ? []
        : [journal.event({ kind: `runtime.${found.phase}`, subject: runtimeSubject(id), message })];
      await store.commit([put('runtimes', after), ...events]);
    },
    async decide(id, did, code, why, given) {
      const reason = { code, ...(given && { with: given }) };
      const change = journal.decision({ subject: runtimeSubject(id), did, reason, why, facts: {} }, did !== 'nothing');
      if (change) await store.commit([change]);
    },
  };
}

export interface NotesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly journal: Journal;
}
