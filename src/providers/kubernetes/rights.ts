// What Muster may do in a cluster: the roles, the tables of the documents and a test against all its calls come from here.
import { DEPLOYMENTS, EVENTS, type KubeResource, PODS, qualifiedName, SECRETS, SERVICES } from '#kube/resource.ts';
import { AGENT_POOLS } from './agent-pool/resource.ts';

export interface Right {
  readonly resource: KubeResource;
  readonly subresource?: string;
  readonly verbs: readonly string[];
  /** What it is needed for, for the tables of the documents. */
  readonly why: string;
}

/** In each namespace whose AgentPools are served. Nothing outside of namespaces is needed. */
export const RIGHTS: readonly Right[] = [
  {
    resource: AGENT_POOLS,
    verbs: ['get', 'list', 'watch', 'patch'],
    why: 'reads the definitions; `patch` sets and removes the finalizer',
  },
  { resource: AGENT_POOLS, subresource: 'status', verbs: ['patch'], why: 'writes counts and conditions' },
  { resource: PODS, verbs: ['get', 'list', 'watch', 'create', 'delete'], why: 'starts and stops workers' },
  {
    resource: EVENTS,
    verbs: ['get', 'list', 'create', 'patch'],
    why: 'reads why pods do not start; writes what pools did, and counts what they did again',
  },
];

/** In the namespaces of computers, and of pools of Deployments; granted only where they are asked for. */
export const DEPLOYMENT_RIGHTS: readonly Right[] = [
  {
    resource: DEPLOYMENTS,
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    why: 'starts and stops machines; `patch` sets one off that is complete',
  },
  {
    resource: DEPLOYMENTS,
    subresource: 'finalizers',
    verbs: ['update'],
    why: 'OpenShift asks for it: a Deployment is deleted after all that it owns',
  },
  { resource: SERVICES, verbs: ['list', 'watch', 'create'], why: 'publishes the port of a machine' },
  { resource: SECRETS, verbs: ['create'], why: "holds the agent's file and key; the server reads none" },
  { resource: PODS, verbs: ['list', 'watch'], why: 'reads why a machine does not run' },
  { resource: EVENTS, verbs: ['list'], why: 'reads why a pod does not start' },
];

const nameIn = ({ subresource }: Right, name: string): string =>
  subresource === undefined ? name : `${name}/${subresource}`;

/** As RBAC names it in a rule: `agentpools/status`. */
export const ruleResource = (right: Right): string => nameIn(right, right.resource.plural);

/** As people and documents name it: `agentpools.velda.io/status`. */
export const rightName = (right: Right): string => nameIn(right, qualifiedName(right.resource));

/** The rules of a Role or ClusterRole. */
export function rulesOf(rights: readonly Right[]) {
  return rights.map((right) => ({
    apiGroups: [right.resource.group],
    resources: [ruleResource(right)],
    verbs: right.verbs,
  }));
}

/** The table of the documents. */
export function renderRights(rights: readonly Right[]): string {
  const rows = rights.map((right) => `| \`${rightName(right)}\` | ${right.verbs.join(', ')} | ${right.why} |`);
  return ['| Resource | Verbs | Why |', '|---|---|---|', ...rows].join('\n');
}
