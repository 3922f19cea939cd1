// DigitalOcean agrees first and finds out afterwards; no listing says why a droplet never came, only its action does.
import type { Machine } from '#core/provider.ts';
import { askBeside } from '#rest/beside.ts';
import { followLate } from '#rest/follow-late.ts';
import type { Action } from '../api.ts';
import type { DigitalOcean } from '../client.ts';
import type { Account, Promised, Snapshot } from './account.ts';

// An unlisted one is suspicious sooner than one that still begins.
const UNLISTED_MS = 10_000;
const BEGINNING_MS = 60_000;
const AGAIN_MS = 60_000;
const FORGET_MS = 3_600_000;
const SHOW_FAILED_MS = 600_000;
// Listings must stay cheap: the others have their turn at the next one.
const MOST_LOOKS = 10;

// Between two listings the last actions of the account are read while droplets are on their way: DigitalOcean tells a
// late failure nowhere else, and only to those who ask. One request shows 200 actions, and each is followed by 3 s without
// one: 20 a minute, 1,200 an hour at most. A listing of 1,000 droplets, once a minute, is at most 10 requests, 600 an
// hour; to make and delete 1,000 is 100 and 40. That is 1,940 of the 5,000 an hour.
const PAUSE_A_REQUEST_MS = 3_000;
const MOST_PAGES = 5;
const PAGE = 200;
// Failures come soon or not at all: what was launched longer ago is looked for ever less often.
const SLOWEST_MS = 60_000;

/** What was promised and is not there yet; that which has not been looked at for longest comes first. */
function overdue({ promised, clock }: Account, { droplets }: Snapshot): Promised[] {
  const nowMs = clock.monotonic();
  const beginning = new Set(droplets.filter(({ status }) => status === 'new').map(({ id }) => id));
  const isDue = ({ id, atMs, checkedMs }: Promised): boolean =>
    nowMs - atMs >= (beginning.has(id) ? BEGINNING_MS : UNLISTED_MS) && nowMs - checkedMs >= AGAIN_MS;
  return [...promised.values()].filter(isDue).toSorted((a, b) => a.checkedMs - b.checkedMs);
}

function stillborn({ promised, clock }: Account, id: number): Machine | undefined {
  const [name, promise] = [...promised].find(([, one]) => one.id === id) ?? [];
  if (name === undefined || !promise) return undefined;
  const createdAt = clock.now() - (clock.monotonic() - promise.atMs);
  const message = 'DigitalOcean agreed to create the droplet, and then failed to without giving a reason';
  const trouble = { kind: 'exhausted', message, final: true } as const;
  return { name, mark: promise.mark, id: String(id), createdAt, state: 'failed', trouble };
}

/** Forgets promises that were kept, and failures that no caller asks about. */
function settle({ promised, failed, clock }: Account, { droplets }: Snapshot): void {
  for (const { name, status } of droplets) if (status !== 'new') promised.delete(name);
  for (const [name, { atMs }] of promised) if (clock.monotonic() - atMs > FORGET_MS) promised.delete(name);
  for (const [name, { createdAt }] of failed) if (clock.now() - createdAt > SHOW_FAILED_MS) failed.delete(name);
}

interface Looking {
  readonly snapshot: Snapshot;
  readonly signal: AbortSignal;
}

/** Looks at the actions of droplets that are overdue, and keeps those that failed as machines that failed. */
async function lookAtActions(account: Account, api: DigitalOcean, { snapshot, signal }: Looking): Promise<void> {
  for (const promise of overdue(account, snapshot).slice(0, MOST_LOOKS)) {
    promise.checkedMs = account.clock.monotonic();
    if (promise.action === undefined) continue;
    const { action } = await api.ask<{ action: Action }>({ path: `/actions/${promise.action}` }, signal);
    const lost = action.status === 'errored' ? stillborn(account, action.resource_id ?? promise.id) : undefined;
    if (lost) fail(account, lost);
  }
}

function fail(account: Account, machine: Machine): void {
  account.failed.set(machine.name, machine);
  account.promised.delete(machine.name);
  account.hasNewFailure = true;
}

const comingOf = ({ promised }: Account): Promised[] =>
  [...promised.values()].filter(({ action, isMade }) => action !== undefined && !isMade);

interface Actions {
  readonly actions?: readonly Action[];
  readonly links?: { readonly pages?: { readonly next?: string } };
}

/** Takes in what one of the last actions says of a promise; answers whether it failed. */
function isFailure(account: Account, promise: Promised | undefined, { status, resource_id }: Action): boolean {
  if (promise && status === 'completed') promise.isMade = true;
  const lost = promise && status === 'errored' ? stillborn(account, resource_id ?? promise.id) : undefined;
  if (lost) fail(account, lost);
  return lost !== undefined;
}

/**
 * Reads the last actions of the account, the newest first, until all droplets on their way were seen; answers how many
 * failed. One that is on no page is looked at by itself when it is overdue.
 */
async function lookAtLastActions(account: Account, signal: AbortSignal): Promise<number> {
  const { clock } = account;
  const coming = comingOf(account);
  const [youngest] = coming.toSorted((a, b) => b.atMs - a.atMs);
  if (!youngest || clock.monotonic() < account.nextLookMs) return 0;
  const byAction = new Map(coming.map((promise) => [promise.action, promise]));
  const agingMs = Math.min(SLOWEST_MS, (clock.monotonic() - youngest.atMs) / 4);
  let failures = 0;
  for (let page = 1, isLast = false; !isLast && page <= MOST_PAGES && byAction.size > 0; page++) {
    account.nextLookMs = clock.monotonic() + Math.max(agingMs, page * PAUSE_A_REQUEST_MS);
    const query = { page, per_page: PAGE };
    const { actions = [], links } = await youngest.api.ask<Actions>({ path: '/actions', query }, signal);
    for (const action of actions) {
      if (isFailure(account, byAction.get(action.id), action)) failures += 1;
      byAction.delete(action.id);
    }
    isLast = links?.pages?.next === undefined;
  }
  return failures;
}

interface Following {
  readonly signal: AbortSignal;
  changed(): void;
}

/** Hints as soon as an action is seen that failed. */
export function followActions(account: Account, { changed, signal }: Following): void {
  const follower = followLate({
    clock: account.clock,
    signal,
    everyMs: PAUSE_A_REQUEST_MS,
    isNeeded: () => comingOf(account).length > 0,
    look: (ending) => lookAtLastActions(account, ending),
    changed,
  });
  account.follower = follower;
  signal.addEventListener('abort', () => {
    if (account.follower === follower) account.follower = undefined;
  });
}

/** Finds out which droplets never come. */
export async function findFailures(account: Account, api: DigitalOcean, looking: Looking): Promise<void> {
  settle(account, looking.snapshot);
  const beside = { log: account.log, signal: looking.signal, warning: 'cannot find out why droplets failed' };
  await askBeside(beside, () => lookAtActions(account, api, looking));
}
