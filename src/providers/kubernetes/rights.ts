// What Muster may do in a cluster: the roles, the tables of the documents and a test against all its calls come from here.
import { EVENTS, type KubeResource, PODS, qualifiedName } from '#kube/resource.ts';
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
