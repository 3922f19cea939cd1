// Whether the containers of groups still run. Listings do not say so; each group is asked for by itself, in turns.
import { plainMessage } from '#core/answer.ts';
import { SECOND_MS } from '#core/clock.ts';
import type { Trouble } from '#core/provider.ts';
import { bestEffort } from '#rest/best-effort.ts';
import { faultOfOperation } from '../azure-fault.ts';
import { CONTAINERS_VERSION, type ContainerGroup, type ContainerView } from './api.ts';
import { findGroup, groupPath, type Place } from './place.ts';

/** What became of a group that Azure has placed. */
export interface View {
  readonly atMs: number;
  /** Absent: it runs. What has ended stays ended. */
  readonly trouble?: Trouble;
}

const HOLDS_MS = 20 * SECOND_MS;
// Listings must stay cheap: the others have their turn at the next one.
const MOST_LOOKS = 20;
const LOG_LINES = 3;

export const hasFailed = ({ properties }: ContainerGroup): boolean =>
  /^(failed|canceled)$/i.test(properties.provisioningState);
/** Azure has placed it: whether its container runs is another question. */
export const isPlaced = ({ properties }: ContainerGroup): boolean =>
  /^(succeeded|unhealthy|repairing|updating)$/i.test(properties.provisioningState);

const ended = (message: string, kind: Trouble['kind'] = 'unavailable'): Trouble => ({ kind, message, final: true });

/** Why Azure did not place it, as far as its events tell. */
function failureOf({ name, properties }: ContainerGroup): Trouble {
  const { instanceView, containers = [] } = properties;
  const events = [instanceView, ...containers.map((one) => one.properties?.instanceView)].flatMap(
    (view) => view?.events ?? [],
  );
  const said = events.findLast(({ type }) => type === 'Warning') ?? events.at(-1);
  const error = said && { code: said.name ?? 'no code', message: said.message ?? '' };
  const { kind, message } = faultOfOperation(error, `The creation of ${name}`);
  return ended(message, kind);
}

function exitOf({ currentState: { exitCode, detailStatus } = {} }: ContainerView, log: string): Trouble {
  const detail = detailStatus ? ` (${plainMessage(detailStatus)})` : '';
  const last = log === '' ? '' : `; its log ends: ${log}`;
  return ended(`the container has ended with exit code ${exitCode ?? 'unknown'}${detail}${last}`);
}

/** The end of what its container wrote; nothing where that cannot be had. */
async function logOf({ arm, ...place }: Place, name: string, container: string, signal: AbortSignal): Promise<string> {
  const path = `${groupPath({ arm, ...place }, name)}/containers/${encodeURIComponent(container)}/logs`;
  const request = { path, apiVersion: CONTAINERS_VERSION, query: { tail: LOG_LINES } };
  const answer = await arm.ask<{ readonly content?: string }>(request, signal).catch(() => undefined);
  return plainMessage(answer?.content ?? '');
}

async function troubleOf(place: Place, group: ContainerGroup, signal: AbortSignal): Promise<Trouble | undefined> {
  if (hasFailed(group)) return failureOf(group);
  const { instanceView, containers = [] } = group.properties;
  const [container] = containers;
  const state = instanceView?.state?.toLowerCase();
  if (state === 'stopped') return ended('somebody has stopped the container group');
  const view = container?.properties?.instanceView ?? {};
  const isOver =
    state === 'succeeded' || state === 'failed' || view.currentState?.state?.toLowerCase() === 'terminated';
  if (!isOver) return undefined;
  return exitOf(view, await logOf(place, group.name, container?.name ?? '', signal));
}

async function look(place: Place, name: string, signal: AbortSignal): Promise<void> {
  const { views, arm } = place;
  const group = await findGroup(place, name, signal);
  // It went while we looked.
  if (!group) return;
  const trouble = await troubleOf(place, group, signal);
  views.set(name, { atMs: arm.clock.now(), ...(trouble && { trouble }) });
}

/** What is known of the groups that are listed, the stalest of it renewed. */
export async function viewGroups(
  place: Place,
  groups: readonly ContainerGroup[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, View>> {
  const { views, arm, log } = place;
  const names = new Set(groups.map(({ name }) => name));
  for (const name of views.keys()) if (!names.has(name)) views.delete(name);
  const staleMs = arm.clock.now() - HOLDS_MS;
  const due = groups
    .filter((group) => isPlaced(group) || hasFailed(group))
    .map(({ name }) => ({ name, view: views.get(name) }))
    .filter(({ view }) => view === undefined || (view.trouble === undefined && view.atMs <= staleMs))
    .sort((one, other) => (one.view?.atMs ?? 0) - (other.view?.atMs ?? 0));
  await bestEffort({ log, signal, warning: 'cannot find out whether containers still run' }, () =>
    Promise.all(due.slice(0, MOST_LOOKS).map(({ name }) => look(place, name, signal))),
  );
  return views;
}
