// How machines are recognised. Instances that we insert have labels; instances of a group have metadata of their own, or
// where that is not wanted nothing but a name.
import { readMarkedName } from '#core/mark-name.ts';
import { type Mark, USES, type Use } from '#core/provider.ts';
import type { ManagedInstance } from './api.ts';
import { lastPart } from './api.ts';

/** The metadata of an instance that holds its whole mark. No dash: it stands in a `fields` parameter. */
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

/** The mark of an instance of a group, in its metadata or in its name. */
export function readManaged(managed: ManagedInstance): MarkedInstance | undefined {
  const name = instanceNameOf(managed);
  const text = managed.preservedStateFromConfig?.metadata?.[MARK_KEY];
  if (text !== undefined) return readMarkText(name, text);
  const read = readMarkedName(name);
  return read && { ...read, createdAt: 0 };
}

export const CLUSTER_LABEL = 'muster-cluster';
/** Named after what the machine is for: the label holds the id of its owner. */
const OWNER: Readonly<Record<Use, string>> = { worker: 'muster-pool', computer: 'muster-computer' };
const SHAPE = 'muster-shape';

export function markLabels({ cluster, use, owner, shape }: Mark): Record<string, string> {
  return { [CLUSTER_LABEL]: cluster, [OWNER[use]]: owner, [SHAPE]: shape };
}

/** The mark in the labels of an instance, if it bears a whole one. */
export function readLabels(labels: Readonly<Record<string, string>> = {}): Mark | undefined {
  const { [CLUSTER_LABEL]: cluster, [SHAPE]: shape } = labels;
  const use = USES.find((each) => labels[OWNER[each]] !== undefined);
  const owner = use && labels[OWNER[use]];
  return cluster && use && owner && shape ? { cluster, use, owner, shape } : undefined;
}
