// How containers are recognised: by labels, which the engine takes at creation and never changes.
import { type Launch, type Machine, type Mark, type Trouble, USES } from '#core/provider.ts';
import type { ContainerSummary } from './api.ts';

export const LABEL_PREFIX = 'io.muster.';
const LABEL = {
  cluster: `${LABEL_PREFIX}cluster`,
  use: `${LABEL_PREFIX}use`,
  owner: `${LABEL_PREFIX}owner`,
  shape: `${LABEL_PREFIX}shape`,
} as const;
const LAUNCH = `${LABEL_PREFIX}launch`;
/** The port that its agent serves. */
const PORT = `${LABEL_PREFIX}port`;
/** The name of its worker, where the container has another one. */
const NAME = `${LABEL_PREFIX}name`;

type Labels = Readonly<Record<string, string>>;

/** What the listing and the events are filtered by. */
export const labelFilter = (cluster: string): string => `${LABEL.cluster}=${cluster}`;

/** Finds the container of a worker that has a name of its own. */
export const nameFilter = (name: string): string => `${NAME}=${name}`;

/** `name` is that of the worker where the container has another one. */
export function labelsFor({ id, mark, boot }: Launch, name?: string): Labels {
  const { cluster, use, owner, shape } = mark;
  return {
    ...{ [LABEL.cluster]: cluster, [LABEL.use]: use, [LABEL.owner]: owner, [LABEL.shape]: shape, [LAUNCH]: id },
    ...(name !== undefined && { [NAME]: name }),
    ...(boot.port !== undefined && { [PORT]: String(boot.port) }),
  };
}

/** The mark in the labels, if they hold a whole one. */
export function markIn(labels: Labels | null | undefined): Mark | undefined {
  const [cluster, owner, shape] = [labels?.[LABEL.cluster], labels?.[LABEL.owner], labels?.[LABEL.shape]];
  const use = USES.find((each) => each === labels?.[LABEL.use]);
  return cluster && use && owner && shape ? { cluster, use, owner, shape } : undefined;
}

export const launchIn = (labels: Labels | null | undefined): string | undefined => labels?.[LAUNCH];

export const workerIn = (labels: Labels | null | undefined): string | undefined => labels?.[NAME];

export function portIn(labels: Labels | null | undefined): number | undefined {
  const port = Number(labels?.[PORT] ?? '');
  return port > 0 ? port : undefined;
}

// A paused container is frozen by somebody, and goes on when they say so.
const STATES: Readonly<Record<string, Machine['state']>> = {
  created: 'creating',
  running: 'running',
  paused: 'running',
  restarting: 'creating',
  removing: 'deleting',
  exited: 'failed',
  dead: 'failed',
};

/** The name of a container, as the docker command shows it. */
export const nameOf = ({ Names }: ContainerSummary): string =>
  (Names.find((name) => name.lastIndexOf('/') === 0) ?? Names[0] ?? '').replace(/^\//, '');

/** Why a container that has ended did so, as far as the listing tells. */
function endOf({ Status = '' }: ContainerSummary): Trouble {
  const code = /\((\d+)\)/.exec(Status)?.[1];
  const message = code === undefined ? 'the container has ended' : `the container has ended with exit code ${code}`;
  return { kind: 'unavailable', message, final: true };
}

/** A container as the rest of the program sees it; nothing where it bears no whole mark. */
export function machineOf(
  container: ContainerSummary,
  { end, endpoints = [] }: { readonly end?: Trouble | undefined; readonly endpoints?: Machine['endpoints'] } = {},
): Machine | undefined {
  const mark = markIn(container.Labels);
  if (!mark) return undefined;
  const state = STATES[container.State] ?? 'running';
  const networks = Object.values(container.NetworkSettings?.Networks ?? {});
  const addresses = networks.flatMap(({ IPAddress, GlobalIPv6Address }) =>
    [IPAddress, GlobalIPv6Address].flatMap((address) => (address ? [address] : [])),
  );
  return {
    name: workerIn(container.Labels) ?? nameOf(container),
    mark,
    id: container.Id,
    createdAt: container.Created * 1_000,
    state,
    ...(state === 'failed' ? { trouble: end ?? endOf(container) } : end && { trouble: end }),
    ...(addresses.length > 0 && { addresses }),
    ...(endpoints.length > 0 && { endpoints }),
  };
}
