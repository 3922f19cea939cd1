import type { Clock } from '#core/clock.ts';
import { idMaker } from '#core/id.ts';
import { type Actor, type EventRow, SELF } from '#core/journal.ts';
import type { Log } from '#core/log.ts';
import type { Random } from '#core/random.ts';
import type { Subject } from '#core/reason.ts';
import { append, type Change, HISTORIES, type Store, TABLES, type TableName } from '#core/store.ts';
import { defaultRetention } from '#core/table.ts';
import { keepDecisions, type LastDecision, type NewDecision, type WriteInputs } from './decisions.ts';
import { makeRedactor, type Redactor } from './redact.ts';
import { type Retention, startRetention } from './retention.ts';

export type { LastDecision, NewDecision } from './decisions.ts';

/** An event to append; the journal adds its id, its time and its actor. */
export type NewEvent = Pick<EventRow, 'kind' | 'subject' | 'message'> & Partial<Pick<EventRow, 'pool' | 'fields'>>;

/** Events and decisions: what happened, who caused it, and why. */
export interface Journal {
  /** An event to commit together with the change that it describes. */
  event(event: NewEvent, actor?: Actor): Change;
  /** A change to commit if the decision acts or differs from the last one of its subject; otherwise it is only counted. */
  decision(decision: NewDecision, acts: boolean, inputs?: WriteInputs): Change | undefined;
  /** Remembers, and does not store, the first decision of a subject where that can only wait; false: it has one already. */
  noteWait(decision: NewDecision): boolean;
  /** The last decision of a subject, how often it was repeated, and when last. */
  lastDecision(subject: Subject): LastDecision | undefined;
  /** A text without secrets, as it may be stored. */
  redact(text: string): string;
  /** How long each history is kept. */
  readonly retention: Retention;
  stop(): Promise<void>;
}

export interface JournalDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** What is left out keeps its default. */
  readonly retention?: Partial<Retention> | undefined;
  /** The one that the log uses too, so that a secret learned once is hidden everywhere. */
  readonly redactor?: Redactor | undefined;
}

const MOST_SUBJECTS_REMEMBERED = 100_000;

export function startJournal(deps: JournalDeps): Journal {
  const { store, clock, random, log, redactor = makeRedactor() } = deps;
  const nextId = idMaker(() => clock.now(), random);
  const decisions = keepDecisions({ clock, nextId, redactText: redactor.text, most: MOST_SUBJECTS_REMEMBERED });
  const retention: Retention = { ...defaultRetention(HISTORIES), ...deps.retention };
  const forgetting = startRetention({ store, clock, random, log, retention });
  const stops = Object.entries(TABLES).map(([name, rule]) => {
    if (!('subject' in rule)) return () => {};
    return store.onChange(name as TableName, (after, _before, id) => {
      if (!after) decisions.forget(`${rule.subject}/${id}`);
    });
  });

  return {
    event({ kind, subject, pool, message, fields }, actor = SELF) {
      return append('events', {
        kind,
        subject,
        ...(pool !== undefined && { pool }),
        message: redactor.text(message),
        id: nextId(),
        at: clock.now(),
        who: actor.who,
        from: actor.from,
        ...(fields && { fields: redactor.fields(fields) }),
      });
    },
    decision: decisions.record,
    noteWait: decisions.noteWait,
    lastDecision: decisions.last,
    redact: redactor.text,
    retention,
    async stop() {
      for (const stop of stops) stop();
      await forgetting.stop();
    },
  };
}
