// The pod of a worker: the user's template, and what the agent in it needs in order to join and to survive a restart.
import { slotsOf } from '#boot/agent-file.ts';
import type { Launch } from '#core/provider.ts';
import type { KubeObject } from '#kube/object.ts';
import {
  type AgentParts,
  bringsAgentFile,
  CONFIG_FILE,
  type Part,
  partIn,
  specWithAgent,
  textsIn,
} from './agent-spec.ts';
import { annotationsOf, labelsOf } from './marks.ts';

export interface PodOptions {
  readonly template: Part;
  readonly namespace: string;
  /** Whether the pod carries the token of its launch; agents that prove themselves otherwise need none. */
  readonly passToken: boolean;
}

const CONFIG_ANNOTATION = 'muster.io/agent-config';

/**
 * Fields of a template's metadata that would give the pod another identity or another owner. An owner would be followed
 * on deletion: `kubectl delete --cascade=foreground`, Argo's default, would kill busy pods.
 */
const NOT_COPIED = ['name', 'generateName', 'namespace', 'ownerReferences', 'uid', 'resourceVersion', 'managedFields'];

/** What of a template's metadata its pods get. */
export function copiedMetadata(template: Part): Part {
  const given = partIn(template, 'metadata');
  return Object.fromEntries(Object.entries(given).filter(([key]) => !NOT_COPIED.includes(key)));
}

/** The pod to create under a name of a launch: same launch, same pod, always. */
export function podOf(name: string, launch: Launch, { template, namespace, passToken }: PodOptions): KubeObject {
  const metadata = copiedMetadata(template);
  const annotations = {
    ...annotationsOf(launch),
    ...(bringsAgentFile(template) ? {} : { [CONFIG_ANNOTATION]: launch.boot.agentConfig }),
    ...textsIn(metadata, 'annotations'),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      name,
      namespace,
      // Ours last: a template that bears the marks of another pool would hand its pods to that pool.
      labels: { ...textsIn(metadata, 'labels'), ...labelsOf(launch.mark) },
      annotations,
    },
    spec: specWithAgent(template, { env: variablesFor(launch, passToken), file: FILE_IN_ANNOTATION }),
  };
}

function variablesFor({ boot }: Launch, passToken: boolean): AgentParts['env'] {
  const slots = slotsOf(boot);
  return [
    { name: 'AGENT_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    // The file that users mount themselves is the same for every pool.
    ...(slots === undefined ? [] : [{ name: 'MUSTER_SLOTS', value: String(slots) }]),
    ...(passToken ? [{ name: 'MUSTER_JOIN_TOKEN', value: boot.token }] : []),
  ];
}

/** By way of an annotation: a ConfigMap for each launch would have to be made and removed. */
const FILE_IN_ANNOTATION: Part = {
  downwardAPI: {
    items: [{ path: CONFIG_FILE, fieldRef: { fieldPath: `metadata.annotations['${CONFIG_ANNOTATION}']` } }],
  },
};
