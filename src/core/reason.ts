/** The reason of a decision: a code from the closed list of its kind of subject, with the settings that distinguish it. */
export interface Reason {
  readonly code: string;
  readonly with?: Readonly<Record<string, string | number>> | undefined;
}

export interface ReasonRule {
  /** One sentence for the documentation. */
  readonly means: string;
  /** The names of the settings. */
  readonly with: readonly string[];
}

/** All reasons of one kind of subject; `src/<folder>/reasons.ts` exports it as `reasons`. */
export interface SubjectReasons {
  /** What stands before the slash: `pool` for `pool/<id>`. */
  readonly subject: string;
  /** What a decision can do, besides nothing. */
  readonly verbs: readonly string[];
  readonly reasons: Readonly<Record<string, ReasonRule>>;
}

/** What was not done, and why. */
export interface Alternative {
  readonly what: string;
  readonly whyNot: string;
  readonly pricePerHour?: number | undefined;
}

/** What a decision is about, by kind and id: `pool/62m035yk`. */
export type Subject = `${string}/${string}`;

const POOL = 'pool/';

export const poolSubject = (id: string): Subject => `${POOL}${id}`;

/** The id of the pool that a subject is. */
export const poolOfSubject = (subject: string): string | undefined =>
  subject.startsWith(POOL) ? subject.slice(POOL.length) : undefined;

const NONE: NonNullable<Reason['with']> = {};

export function isSameReason(one: Reason, other: Reason): boolean {
  if (one === other) return true;
  if (one.code !== other.code) return false;
  const { with: mine = NONE } = one;
  const { with: its = NONE } = other;
  let count = 0;
  for (const name in mine) {
    if (mine[name] !== its[name]) return false;
    count += 1;
  }
  for (const _ in its) count -= 1;
  return count === 0;
}

export function areSameReasons(some: readonly Reason[] = [], others: readonly Reason[] = []): boolean {
  if (some.length === 0) return others.length === 0;
  return some.length === others.length && some.every((reason, at) => isSameReason(reason, others[at] as Reason));
}

/** The figures behind a decision, by name. */
type Figures = Readonly<Record<string, unknown>>;

export function areSameFigures(some: Figures, others: Figures): boolean {
  let count = 0;
  for (const name in some) {
    if (some[name] !== others[name]) return false;
    count += 1;
  }
  for (const _ in others) count -= 1;
  return count === 0;
}

export function areSameAlternatives(some: readonly Alternative[] = [], others: readonly Alternative[] = []): boolean {
  if (some.length !== others.length) return false;
  return some.every(({ what, whyNot, pricePerHour }, at) => {
    const other = others[at];
    return what === other?.what && whyNot === other.whyNot && pricePerHour === other.pricePerHour;
  });
}
