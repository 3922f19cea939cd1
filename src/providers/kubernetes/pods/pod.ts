// The pod of a worker: the user's template, and what the agent in it needs in order to join and to survive a restart.
import { slotsOf } from '#boot/agent-file.ts';
import { DEFAULT_AGENT_WORK_DIR } from '#core/defaults.ts';
import { Fault } from '#core/fault.ts';
import type { Launch } from '#core/provider.ts';
import type { KubeObject } from '#kube/object.ts';
import { annotationsOf, labelsOf } from './marks.ts';

type Part = Readonly<Record<string, unknown>>;

export interface PodOptions {
  readonly template: Part;
  readonly namespace: string;
  /** Whether the pod carries the token of its launch; agents that prove themselves otherwise need none. */
  readonly passToken: boolean;
}

const AGENT_CONTAINER = 'agent';
const CONFIG_DIR = '/run/velda';
const CONFIG_ANNOTATION = 'muster.io/agent-config';
const WORK_VOLUME = 'muster-work';
const CONFIG_VOLUME = 'muster-agent';

/**
 * Fields of a template's metadata that would give the pod another identity or another owner. An owner would be followed
 * on deletion: `kubectl delete --cascade=foreground`, Argo's default, would kill busy pods.
 */
const NOT_COPIED = ['name', 'generateName', 'namespace', 'ownerReferences', 'uid', 'resourceVersion', 'managedFields'];

/** The pod to create under a name of a launch: same launch, same pod, always. */
export function podOf(name: string, launch: Launch, { template, namespace, passToken }: PodOptions): KubeObject {
  const given = partIn(template, 'metadata');
  const metadata = Object.fromEntries(Object.entries(given).filter(([key]) => !NOT_COPIED.includes(key)));
  const spec = partIn(template, 'spec');
  const containers = listIn(spec, 'containers');
  const agent = containers.find((container) => container.name === AGENT_CONTAINER) ?? containers[0];
  if (!agent) {
    throw new Fault('invalid', 'The pod template has no container.', { remedy: 'Add the container of the agent.' });
  }
  const needsConfig = !hasMount(agent, CONFIG_DIR);
  const needsWorkDir = !hasMount(agent, DEFAULT_AGENT_WORK_DIR);
  const annotations = {
    ...annotationsOf(launch),
    ...(needsConfig ? { [CONFIG_ANNOTATION]: launch.boot.agentConfig } : {}),
    ...textsIn(given, 'annotations'),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      name,
      namespace,
      // Ours last: a template that bears the marks of another pool would hand its pods to that pool.
      labels: { ...textsIn(given, 'labels'), ...labelsOf(launch.mark) },
      annotations,
    },
    spec: {
      ...spec,
      containers: containers.map((container) =>
        container === agent ? withAgentParts(agent, launch, { passToken, needsConfig, needsWorkDir }) : container,
      ),
      volumes: [
        ...listIn(spec, 'volumes'),
        ...(needsWorkDir ? [{ name: WORK_VOLUME, emptyDir: {} }] : []),
        ...(needsConfig ? [configVolume()] : []),
      ],
    },
  };
}

interface AgentNeeds {
  readonly passToken: boolean;
  readonly needsConfig: boolean;
  readonly needsWorkDir: boolean;
}

function withAgentParts(agent: Part, { boot }: Launch, needs: AgentNeeds): Part {
  const env = listIn(agent, 'env');
  const has = (name: string): boolean => env.some((variable) => variable.name === name);
  const slots = slotsOf(boot);
  return {
    // The last lines of the log tell why an agent crashed, where it writes no termination message: most do not.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    ...agent,
    env: [
      ...env,
      ...(has('AGENT_NAME') ? [] : [{ name: 'AGENT_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }]),
      // The file that users mount themselves is the same for every pool.
      ...(slots === undefined || has('MUSTER_SLOTS') ? [] : [{ name: 'MUSTER_SLOTS', value: String(slots) }]),
      ...(needs.passToken && !has('MUSTER_JOIN_TOKEN') ? [{ name: 'MUSTER_JOIN_TOKEN', value: boot.token }] : []),
    ],
    volumeMounts: [
      ...listIn(agent, 'volumeMounts'),
      // Outlives a restart of the container: the agent finds its key, its sessions and what it has not sent.
      ...(needs.needsWorkDir ? [{ name: WORK_VOLUME, mountPath: DEFAULT_AGENT_WORK_DIR }] : []),
      ...(needs.needsConfig ? [{ name: CONFIG_VOLUME, mountPath: CONFIG_DIR, readOnly: true }] : []),
    ],
  };
}

/** The agent's file by way of an annotation: a ConfigMap for each launch would have to be made and removed. */
function configVolume(): Part {
  const fieldRef = { fieldPath: `metadata.annotations['${CONFIG_ANNOTATION}']` };
  return { name: CONFIG_VOLUME, downwardAPI: { items: [{ path: 'velda.yaml', fieldRef }] } };
}

const hasMount = (container: Part, path: string): boolean =>
  listIn(container, 'volumeMounts').some(({ mountPath }) => {
    const mounted = String(mountPath).replace(/\/+$/, '');
    return mounted === path || path.startsWith(`${mounted}/`);
  });

function partIn(part: Part, key: string): Part {
  const inner = part[key];
  return typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? (inner as Part) : {};
}

const textsIn = (part: Part, key: string): Readonly<Record<string, string>> =>
  partIn(part, key) as Readonly<Record<string, string>>;

function listIn(part: Part, key: string): readonly Part[] {
  const inner = part[key];
  return Array.isArray(inner) ? (inner as readonly Part[]) : [];
}
