// DigitalOcean agrees first and finds out afterwards; only the action of a droplet says that it will never come.
import { Fault } from '#core/fault.ts';
import type { Backend, Outcome } from '#core/provider.ts';
import type { CloudClient } from '#rest/cloud-client.ts';
import type { Action, Page } from '../api.ts';

// One request shows 200 actions. The newest are read every 4 s at most, each older page four times less often: that is 20
// requests a minute, 1,200 an hour. A listing of 1,000 droplets, once a minute, is at most 10 requests, 600 an hour; to
// make and delete 1,000 is 100 and 40. That is 1,940 of the 5,000 an hour.
const PAGE = 200;
const AGAIN_MS = 4_000;
const MOST_PAGES = 5;

interface Actions extends Page {
  readonly actions?: readonly Action[];
}

/** The last actions of the account, as far back as the oldest that is asked for. */
async function lastActions(api: CloudClient, oldest: number, signal: AbortSignal): Promise<readonly Action[]> {
  const found: Action[] = [];
  for (let page = 1, isLast = false; page <= MOST_PAGES && !isLast; page++) {
    const read = () => api.ask<Actions>({ path: '/actions', query: { page, per_page: PAGE } }, signal);
    const { actions = [], links } = await api.keep(`actions ${page}`, AGAIN_MS * 4 ** (page - 1), read);
    found.push(...actions);
    isLast = !links?.pages?.next || found.some(({ id }) => id <= oldest);
  }
  return found;
}

function outcomeOf(name: string, { id, status }: Action): Outcome {
  if (status === 'in-progress') return { name, operation: String(id) };
  if (status === 'completed') return { name };
  const message = 'DigitalOcean agreed to create the droplet, and then failed to without giving a reason';
  return { name, fault: new Fault('exhausted', message) };
}

export function checkerOf(api: CloudClient): Required<Backend>['check'] {
  return async (pending, signal) => {
    if (signal.aborted) throw new Fault('unavailable', 'The check was cancelled.');
    const actions = await lastActions(api, Math.min(...pending.map(({ operation }) => Number(operation))), signal);
    const byId = new Map(actions.map((action) => [String(action.id), action]));
    const lowest = Math.min(...actions.map(({ id }) => id));
    return pending.flatMap((one) => {
      const action = byId.get(one.operation);
      if (action) return [outcomeOf(one.name, action)];
      // Ids grow: one that is newer than a page that was kept is on the next one, one that is older than all is on none.
      return Number(one.operation) < lowest ? [] : [one];
    });
  };
}
