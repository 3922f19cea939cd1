// The most urgent problems of all nouns, in a list of bounded size.
import type { Clock } from '#core/clock.ts';
import { inSlices } from '#core/slices.ts';
import type { FleetProblem } from './wire/overview.ts';
import { toTimeIf } from './wire/shared.ts';

/** How much a problem stops, the most first. */
export const URGENCIES = ['server', 'fleet', 'pool', 'source', 'machines'] as const;

/** A problem as a noun reports it. There may be thousands, of which a few are shown: those alone make their texts. */
export interface ReportedProblem {
  readonly id: string;
  readonly urgency: (typeof URGENCIES)[number];
  readonly subject: string;
  readonly link: string;
  readonly since?: number | undefined;
  readonly waitingSessions?: number | undefined;
  /** Undefined: it has ended meanwhile. */
  said(): { readonly what: string; readonly remedy: string } | undefined;
}

const MOST_SHOWN = 50;
// With everything else the whole overview stays below 20 KB.
const MOST_BYTES = 15_000;
const MOST_WHAT = 300;
const MOST_REMEDY = 200;

const RANK = Object.fromEntries(URGENCIES.map((urgency, rank) => [urgency, rank])) as Readonly<
  Record<ReportedProblem['urgency'], number>
>;

const byUrgency = (one: ReportedProblem, other: ReportedProblem): number =>
  RANK[one.urgency] - RANK[other.urgency] ||
  (other.waitingSessions ?? 0) - (one.waitingSessions ?? 0) ||
  (one.since ?? 0) - (other.since ?? 0) ||
  (one.id < other.id ? -1 : 1);

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function shown(problem: ReportedProblem, redactText: (text: string) => string): FleetProblem | undefined {
  const said = problem.said();
  return (
    said && {
      id: problem.id,
      subject: problem.subject,
      what: cut(redactText(said.what), MOST_WHAT),
      since: toTimeIf(problem.since),
      remedy: cut(redactText(said.remedy), MOST_REMEDY),
      waiting_sessions: problem.waitingSessions || undefined,
      link: problem.link,
    }
  );
}

/** The first of them in the order of urgency, and how many are left out. */
export async function mostUrgent(
  problems: Iterable<ReportedProblem>,
  { clock, redactText }: { readonly clock: Clock; redactText(text: string): string },
): Promise<{ readonly problems: FleetProblem[]; readonly more: number }> {
  let total = 0;
  let kept: ReportedProblem[] = [];
  await inSlices(clock, problems, (problem) => {
    total += 1;
    kept.push(problem);
    // Sorting all of them would stall the process where every pool has the same trouble.
    if (kept.length >= 8 * MOST_SHOWN) kept = kept.toSorted(byUrgency).slice(0, MOST_SHOWN);
  });
  const found: FleetProblem[] = [];
  let bytes = 0;
  for (const problem of kept.toSorted(byUrgency)) {
    const one = shown(problem, redactText);
    if (!one) total -= 1;
    bytes += one ? Buffer.byteLength(JSON.stringify(one)) : 0;
    if (found.length === MOST_SHOWN || bytes > MOST_BYTES) break;
    if (one) found.push(one);
  }
  return { problems: found, more: total - found.length };
}
