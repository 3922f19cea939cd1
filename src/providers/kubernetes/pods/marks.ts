// What Muster writes on its pods: labels to find them by, annotations for those who might remove them.
import { type Launch, type Mark, USES } from '#core/provider.ts';
import type { KubeObject } from '#kube/object.ts';
import { selectorOf } from '#kube/selector.ts';

export const LABEL = {
  cluster: 'muster.io/cluster',
  use: 'muster.io/use',
  owner: 'muster.io/owner',
  shape: 'muster.io/shape',
} as const;
export const LAUNCH_ANNOTATION = 'muster.io/launch';

/** Nothing but us decides when a pod goes: it may hold a session that cannot be repeated. */
export const KEEP_ANNOTATIONS: Readonly<Record<string, string>> = {
  'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
  'karpenter.sh/do-not-disrupt': 'true',
};

/** The selector of all pods of a Muster cluster. */
export const podsOfCluster = (cluster: string): string => selectorOf({ [LABEL.cluster]: cluster });

export function labelsOf({ cluster, use, owner, shape }: Mark): Readonly<Record<string, string>> {
  return { [LABEL.cluster]: cluster, [LABEL.use]: use, [LABEL.owner]: owner, [LABEL.shape]: shape };
}

export const annotationsOf = ({ id }: Launch): Readonly<Record<string, string>> => ({
  ...KEEP_ANNOTATIONS,
  [LAUNCH_ANNOTATION]: id,
});

/** The mark of a pod; undefined where one of its labels is missing or no longer ours. */
export function markOf({ metadata }: KubeObject): Mark | undefined {
  const { labels = {} } = metadata;
  const cluster = labels[LABEL.cluster];
  const owner = labels[LABEL.owner];
  const shape = labels[LABEL.shape];
  const use = USES.find((each) => each === labels[LABEL.use]);
  return cluster && use && owner && shape ? { cluster, use, owner, shape } : undefined;
}
