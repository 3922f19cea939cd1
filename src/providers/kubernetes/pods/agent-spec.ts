// A pod of the user's, and what the agent in it needs: its file, a folder that outlives its container, a few variables.
import { DEFAULT_AGENT_WORK_DIR } from '#core/defaults.ts';
import { Fault } from '#core/fault.ts';

/** A map of a manifest. */
export type Part = Readonly<Record<string, unknown>>;

/** What the agent of one launch gets. */
export interface AgentParts {
  /** Variables; those that the template sets stay. */
  readonly env: readonly (Part & { readonly name: string })[];
  /** The source of the volume that holds the agent's file, unless the template brings one. */
  readonly file: Part;
  /** More of the agent's container; what the template sets stays. */
  readonly container?: Part | undefined;
  /** More mounts of the agent's container. */
  readonly mounts?: readonly Part[] | undefined;
}

const AGENT_CONTAINER = 'agent';
export const CONFIG_DIR = '/run/velda';
export const CONFIG_FILE = 'velda.yaml';
const WORK_VOLUME = 'muster-work';
export const CONFIG_VOLUME = 'muster-agent';

/** The container of the agent: the one of that name, else the first. */
export function agentIn(template: Part): Part {
  const containers = listIn(partIn(template, 'spec'), 'containers');
  const agent = containers.find((container) => container.name === AGENT_CONTAINER) ?? containers[0];
  if (agent) return agent;
  throw new Fault('invalid', 'The pod template has no container.', { remedy: 'Add the container of the agent.' });
}

/** Whether the template itself brings the file of the agent. */
export const bringsAgentFile = (template: Part): boolean => hasMount(agentIn(template), CONFIG_DIR);

/** The spec of a pod whose agent can join, and survive a restart of its container. */
export function specWithAgent(template: Part, parts: AgentParts): Part {
  const spec = partIn(template, 'spec');
  const agent = agentIn(template);
  const needsConfig = !hasMount(agent, CONFIG_DIR);
  const needsWorkDir = !hasMount(agent, DEFAULT_AGENT_WORK_DIR);
  const env = listIn(agent, 'env');
  const isSet = (name: string): boolean => env.some((variable) => variable.name === name);
  const whole = {
    // The last lines of the log tell why an agent crashed, where it writes no termination message: most do not.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    ...parts.container,
    ...agent,
    env: [...env, ...parts.env.filter(({ name }) => !isSet(name))],
    volumeMounts: [
      ...listIn(agent, 'volumeMounts'),
      // Outlives a restart of the container: the agent finds its key, its sessions and what it has not sent.
      ...(needsWorkDir ? [{ name: WORK_VOLUME, mountPath: DEFAULT_AGENT_WORK_DIR }] : []),
      ...(needsConfig ? [{ name: CONFIG_VOLUME, mountPath: CONFIG_DIR, readOnly: true }] : []),
      ...(parts.mounts ?? []),
    ],
  };
  return {
    ...spec,
    containers: listIn(spec, 'containers').map((container) => (container === agent ? whole : container)),
    volumes: [
      ...listIn(spec, 'volumes'),
      ...(needsWorkDir ? [{ name: WORK_VOLUME, emptyDir: {} }] : []),
      ...(needsConfig ? [{ name: CONFIG_VOLUME, ...parts.file }] : []),
    ],
  };
}

const hasMount = (container: Part, path: string): boolean =>
  listIn(container, 'volumeMounts').some(({ mountPath }) => {
    const mounted = String(mountPath).replace(/\/+$/, '');
    return mounted === path || path.startsWith(`${mounted}/`);
  });

export function partIn(part: Part, key: string): Part {
  const inner = part[key];
  return typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? (inner as Part) : {};
}

export const textsIn = (part: Part, key: string): Readonly<Record<string, string>> =>
  partIn(part, key) as Readonly<Record<string, string>>;

export function listIn(part: Part, key: string): readonly Part[] {
  const inner = part[key];
  return Array.isArray(inner) ? (inner as readonly Part[]) : [];
}
