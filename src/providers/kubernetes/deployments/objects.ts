// What one machine is made of: a Deployment, which owns a Secret with the agent's file and key, and a Service for its port.
import { agentFile } from '#boot/agent-file.ts';
import { DEFAULT_AGENT_WORK_DIR } from '#core/defaults.ts';
import { Fault } from '#core/fault.ts';
import type { Launch, Mark } from '#core/provider.ts';
import type { KubeObject } from '#kube/object.ts';
import { selectorOf } from '#kube/selector.ts';
import {
  agentIn,
  bringsAgentFile,
  CONFIG_DIR,
  CONFIG_FILE,
  CONFIG_VOLUME,
  listIn,
  type Part,
  partIn,
  specWithAgent,
  textsIn,
} from '../pods/agent-spec.ts';
import { KEEP_ANNOTATIONS, LABEL, LAUNCH_ANNOTATION, labelsOf } from '../pods/marks.ts';
import { copiedMetadata } from '../pods/pod.ts';
import type { DeploymentConfig } from './config.ts';

/** The name of the machine, on all of its objects: Services and Deployments of two machines never share a pod. */
export const MACHINE_LABEL = 'muster.io/machine';

const KEY_FILE = 'agent.key';
const PORT_NAME = 'health';

/** The selector of the objects of all machines of a Muster cluster; its runtimes have Deployments too. */
export const machinesOfCluster = (cluster: string): string =>
  selectorOf({ [LABEL.cluster]: cluster, [MACHINE_LABEL]: true });

/** Pods bear these two labels alone: with a whole mark a backend of pods would take them for machines of its own. */
const podLabels = ({ cluster }: Mark, name: string): Readonly<Record<string, string>> => ({
  [LABEL.cluster]: cluster,
  [MACHINE_LABEL]: name,
});

const metadataOf = (name: string, { id, mark }: Launch, namespace: string): KubeObject['metadata'] => ({
  name,
  namespace,
  labels: { ...labelsOf(mark), [MACHINE_LABEL]: name },
  annotations: { [LAUNCH_ANNOTATION]: id },
});

/** The pod of the configuration; without a template a bare one. A fault where it leaves no place for the agent's file. */
export function templateOf({ image, template = {} }: Pick<DeploymentConfig, 'image' | 'template'>): Part {
  const spec = partIn(template, 'spec');
  const written = listIn(spec, 'containers');
  const containers = written.length > 0 ? written : [{ name: 'agent', ...(image !== undefined && { image }) }];
  const whole: Part = { ...template, spec: { ...spec, containers } };
  const agent = agentIn(whole);
  const named = containers.map((one) => (one === agent && image !== undefined ? { ...one, image } : one));
  if (!bringsAgentFile(whole)) return { ...whole, spec: { ...spec, containers: named } };
  throw new Fault('invalid', `The template mounts something at ${CONFIG_DIR} of the agent's container.`, {
    at: 'template',
    remedy: `Leave ${CONFIG_DIR} free: the agent finds its file there, which is another for each machine.`,
  });
}

/**
 * The Deployment of a machine. It begins paused, which keeps it without pods: until that is taken back it is known to be
 * unfinished, whoever made it.
 */
export function deploymentOf(
  name: string,
  launch: Launch,
  { template, namespace }: { readonly template: Part; readonly namespace: string },
): KubeObject {
  const { labels, annotations, ...given } = copiedMetadata(template);
  const selected = podLabels(launch.mark, name);
  return {
    metadata: metadataOf(name, launch, namespace),
    spec: {
      replicas: 1,
      paused: true,
      revisionHistoryLimit: 0,
      // Two pods at a time would be two agents of one name.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: selected },
      template: {
        metadata: {
          ...given,
          labels: { ...textsIn({ labels }, 'labels'), ...selected },
          annotations: { ...KEEP_ANNOTATIONS, ...textsIn({ annotations }, 'annotations') },
        },
        spec: podSpec(name, launch, template),
      },
    },
  };
}

function podSpec(name: string, { boot: { port } }: Launch, template: Part): Part {
  const spec = specWithAgent(template, {
    env: [],
    file: { secret: { secretName: name } },
    // Of the Secret too: the pod that comes in place of an evicted one has an empty disk, and must still be known.
    mounts: [
      {
        name: CONFIG_VOLUME,
        mountPath: `${DEFAULT_AGENT_WORK_DIR}/${KEY_FILE}`,
        subPath: KEY_FILE,
        readOnly: true,
      },
    ],
    ...(port !== undefined && { container: servingOn(port) }),
  });
  return {
    // People see the name of their machine in its prompt.
    hostname: name,
    // Commands of people run in it: they get no rights in the cluster, and no variables for each Service of the namespace.
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    ...spec,
  };
}

/** Ready once the agent answers. There is no liveness probe: a machine that is merely busy would lose its sessions. */
const servingOn = (port: number): Part => ({
  ports: [{ name: PORT_NAME, containerPort: port }],
  readinessProbe: { httpGet: { path: '/health', port }, periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 5 },
});

/** Goes with the Deployment, and holds up its end until it is gone: load balancers are given back first. */
const ownedBy = ({ metadata: { name, uid } }: KubeObject): Part => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});

/** What the agent must know and nobody else: its file, with the token of the launch, and the key that it proves itself by. */
export function secretOf(launch: Launch, owner: KubeObject, key: string): KubeObject {
  const { name, namespace = '' } = owner.metadata;
  return {
    metadata: { ...metadataOf(name, launch, namespace), ownerReferences: [ownedBy(owner)] },
    stringData: { [CONFIG_FILE]: agentFile(launch.boot, { name }), [KEY_FILE]: `${key}\n` },
  };
}

/** The Service for the port of a launch; nothing without one. */
export function serviceOf(
  launch: Launch,
  owner: KubeObject,
  { serviceType, serviceAnnotations }: Pick<DeploymentConfig, 'serviceType' | 'serviceAnnotations'>,
): KubeObject | undefined {
  const { port } = launch.boot;
  if (port === undefined) return undefined;
  const { name, namespace = '' } = owner.metadata;
  const metadata = metadataOf(name, launch, namespace);
  return {
    metadata: {
      ...metadata,
      annotations: { ...serviceAnnotations, ...metadata.annotations },
      ownerReferences: [ownedBy(owner)],
    },
    spec: {
      type: serviceType,
      selector: podLabels(launch.mark, name),
      ports: [{ name: PORT_NAME, port, targetPort: port }],
    },
  };
}
