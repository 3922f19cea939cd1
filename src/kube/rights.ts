// What a part of Muster may do in a cluster, as a list: roles, tables of the documents and tests come from it.
import { type KubeResource, qualifiedName } from './resource.ts';

export interface Right {
  readonly resource: KubeResource;
  readonly subresource?: string;
  readonly verbs: readonly string[];
  /** What it is needed for, for the tables of the documents. */
  readonly why: string;
}

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
