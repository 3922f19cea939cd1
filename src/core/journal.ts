import type { Alternative, Reason, Subject } from './reason.ts';
import { records } from './table.ts';

/** Who caused something, and from where: `token:ci` from `10.0.0.7`, or `muster` itself. */
export interface Actor {
  readonly who: string;
  readonly from: string;
}

export const SELF: Actor = { who: 'muster', from: 'itself' };

export interface EventRow {
  readonly id: string;
  readonly at: number;
  /** Dotted, past tense: `pool.created`, `worker.lost`. */
  readonly kind: string;
  /** What it is about: `pool/local`, `worker/m-…`, `session/…`. */
  readonly subject: string;
  readonly pool?: string | undefined;
  readonly who: string;
  readonly from: string;
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
}

/** A decision about a subject, or why nothing was done. Equal decisions in a row are counted, not stored again. */
export interface DecisionRow {
  readonly id: string;
  readonly at: number;
  readonly subject: Subject;
  readonly did: string;
  /** Its reason. Absent in rows of versions without reason codes. */
  readonly reason?: Reason | undefined;
  /** Reasons for less than the whole: other removals, what was left out. */
  readonly also?: readonly Reason[] | undefined;
  /** The reasons as a sentence; only shown. */
  readonly why: string;
  readonly facts: Readonly<Record<string, unknown>>;
  /** What would change the decision. */
  readonly unless?: string | undefined;
  /** Alternatives that were considered and rejected. */
  readonly alternatives?: readonly Alternative[] | undefined;
  /** All that it was computed from, in a form of the subject's own; computed again it gives the same decision. */
  readonly inputs?: string | undefined;
}

export const journalHistories = {
  events: records<EventRow>()({
    finds: { subject: (e) => e.subject, pool: (e) => e.pool, kind: (e) => e.kind },
    covers: { pool: ['kind'] },
    at: (e) => e.at,
    kept: { setting: 'events', default: '30d', about: 'Retention time of events.' },
  }),
  decisions: records<DecisionRow>()({
    finds: { subject: (d) => d.subject },
    at: (d) => d.at,
    kept: { setting: 'decisions', default: '14d', about: 'Retention time of decisions.' },
  }),
} as const;
