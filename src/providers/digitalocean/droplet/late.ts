// DigitalOcean agrees first and finds out afterwards; no listing says why a droplet never came, only its action does.
import type { Machine } from '#core/provider.ts';
import { askBeside } from '#rest/beside.ts';
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
    if (!lost) continue;
    account.failed.set(lost.name, lost);
    account.promised.delete(lost.name);
  }
}

/** Finds out which droplets never come. */
export async function findFailures(account: Account, api: DigitalOcean, looking: Looking): Promise<void> {
  settle(account, looking.snapshot);
  const beside = { log: account.log, signal: looking.signal, warning: 'cannot find out why droplets failed' };
  await askBeside(beside, () => lookAtActions(account, api, looking));
}
