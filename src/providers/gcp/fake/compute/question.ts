// A call of Compute Engine with what its path names, and what many answers share: pages, and changes of groups.
import { cursorOf, inOrder, pageOf } from '#fakes/paging.ts';
import { refusal } from '#fakes/refusal.ts';
import type { GcpCall } from '../read-call.ts';
import type { FakeGroup } from './group.ts';
import { beginOperation, shownOperation } from './operations.ts';
import { PROJECT, REGIONS, ZONES } from './seed-data.ts';
import type { ComputeState } from './state.ts';

export type Body = Readonly<Record<string, unknown>>;

const PATH = /^\/compute\/v1\/projects\/([^/]+)\/(.+)$/;
const LARGEST_PAGE = 500;
const TOKEN_LIFE_MS = 3_600_000;
const TAKEN_IN_MS = 500;

export const notFound = (what: string): Error => refusal('notFound', `The resource '${what}' was not found`, 404);

/** A call with what its path names. */
export interface Question {
  readonly call: GcpCall;
  readonly state: ComputeState;
  readonly nowMs: number;
  readonly project: string;
  /** `zones/us-central1-a`, `regions/us-central1`, `global`, `aggregated`. */
  readonly place: string;
  /** What follows the collection: the name of an instance, group, operation. */
  readonly subject: string;
}

export function questionOf(call: GcpCall, state: ComputeState): Question {
  const [, project = '', rest = ''] = PATH.exec(call.path) ?? [];
  if (project !== PROJECT && !call.action.includes('.images.')) throw notFound(`projects/${project}`);
  const words = rest.split('/');
  const isGlobal = words[0] === 'global' || words[0] === 'aggregated';
  const place = words.slice(0, isGlobal ? 1 : 2).join('/');
  const [kind = '', at = ''] = place.split('/');
  const isKnown = isGlobal || words.length < 3 || (kind === 'zones' ? ZONES : REGIONS).includes(at);
  if (!isKnown) {
    const field = kind.slice(0, -1);
    throw refusal('invalid', `Invalid value for field '${field}': '${at}'. Unknown ${field}.`);
  }
  return { call, state, nowMs: state.clock.now(), project, place, subject: words[isGlobal ? 2 : 3] ?? '' };
}

/** One page of what follows the token. */
export function paged<T>({ call, state, nowMs }: Question, items: readonly T[], keyOf: (item: T) => string) {
  const { query } = call;
  const asked = Number(query.maxResults ?? LARGEST_PAGE);
  if (!(asked >= 1 && asked <= LARGEST_PAGE)) throw refusal('invalid', "Invalid value for field 'maxResults'.");
  const question = {
    of: `${call.path} ${query.filter ?? ''}`,
    token: query.pageToken,
    size: Math.min(asked, state.behaviour.pageSize),
    nowMs,
    emptyPages: 0,
    tokenLifeMs: TOKEN_LIFE_MS,
  };
  const cursor = cursorOf(question);
  if (!cursor) throw refusal('invalid', "Invalid value for field 'pageToken'.");
  const sorted = items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return pageOf(question, cursor, inOrder(sorted, keyOf));
}

export function groupOf({ state, project, place, subject }: Question): FakeGroup {
  const group = state.groups.get(`${project}/${place}/${subject}`);
  if (!group) throw notFound(`projects/${project}/${place}/instanceGroupManagers/${subject}`);
  return group;
}

/** Runs a change once for each request id; answers its operation. */
export function changed(question: Question, type: string, run: () => string): Body {
  const { call, state, nowMs, project, place } = question;
  const { requestId } = call.query;
  const known = requestId === undefined ? undefined : state.requests.get(requestId);
  if (known) return shownOperation(known, nowMs);
  const target = run();
  const wanted = { project, place, type: `compute.${type}`, target, requestId, doneInMs: TAKEN_IN_MS };
  return shownOperation(beginOperation(state, wanted), nowMs);
}

export function changedGroup(question: Question, type: string, run: (group: FakeGroup) => void): Body {
  return changed(question, type, () => {
    const group = groupOf(question);
    run(group);
    return `${question.place}/instanceGroupManagers/${group.name}`;
  });
}
