// How machines are recognised. Instances that we insert have labels; instances of a group have metadata of their own, or
// where that is not wanted nothing but a name.
import { readMarkedName } from '#core/mark-name.ts';
import { type Launch, type Mark, USES, type Use } from '#core/provider.ts';
import { type Instance, lastPart, type ManagedInstance } from './api.ts';

/** The metadata of an instance that holds its whole mark. */
export const MARK_KEY = 'muster_mark';

export interface MarkedInstance {
  /** The name of its worker. */
  readonly name: string;
  readonly mark: Mark;
  /** 0 where the cloud does not tell. */
  readonly createdAt: number;
}

export function markText({ cluster, use, owner, shape }: Mark, createdAt: number): string {
  return [cluster, use, owner, shape, createdAt].join('/');
}

export function readMarkText(name: string, text: string): MarkedInstance | undefined {
  const [cluster, written, owner, shape, madeAt] = text.split('/');
  const use = USES.find((each) => each === written);
  if (!cluster || !use || !owner || !shape) return undefined;
  return { name, mark: { cluster, use, owner, shape }, createdAt: Number(madeAt ?? 0) || 0 };
}

export const instanceNameOf = ({ name, instance = '' }: ManagedInstance): string => name ?? lastPart(instance);

function readTextOrName(name: string, text: string | undefined): MarkedInstance | undefined {
  if (text !== undefined) return readMarkText(name, text);
  const read = readMarkedName(name);
  return read && { ...read, createdAt: 0 };
}

/** The mark of an instance of a group, in its metadata or in its name. */
export function readManaged(managed: ManagedInstance): MarkedInstance | undefined {
  return readTextOrName(instanceNameOf(managed), managed.preservedStateFromConfig?.metadata?.[MARK_KEY]);
}

/** The same of an instance of a group that is asked for by itself. */
export function readInstance({ name, metadata }: Instance): MarkedInstance | undefined {
  return readTextOrName(name, metadata?.items?.find(({ key }) => key === MARK_KEY)?.value);
}

export const CLUSTER_LABEL = 'muster-cluster';
/** Named after what the machine is for: the label holds the id of its owner. */
const OWNER: Readonly<Record<Use, string>> = { worker: 'muster-pool', computer: 'muster-computer' };
const SHAPE = 'muster-shape';
/** The port that its agent serves. */
const PORT = 'muster-port';

export function launchLabels({ mark, boot }: Launch): Record<string, string> {
  const { cluster, use, owner, shape } = mark;
  const port = boot.port !== undefined && { [PORT]: String(boot.port) };
  return { [CLUSTER_LABEL]: cluster, [OWNER[use]]: owner, [SHAPE]: shape, ...port };
}

/** The port that the launch of an instance named, if it named one. */
export function portIn({ labels }: Pick<Instance, 'labels'>): number | undefined {
  const port = Number(labels?.[PORT] ?? '');
  return port > 0 ? port : undefined;
}

/** The mark in the labels of an instance, if it bears a whole one. */
export function readLabels(labels: Readonly<Record<string, string>> = {}): Mark | undefined {
  const { [CLUSTER_LABEL]: cluster, [SHAPE]: shape } = labels;
  const use = USES.find((each) => labels[OWNER[each]] !== undefined);
  const owner = use && labels[OWNER[use]];
  return cluster && use && owner && shape ? { cluster, use, owner, shape } : undefined;
}
