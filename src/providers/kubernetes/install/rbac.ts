// The account of the server, and exactly the rights that its code uses.
import { type Right, rulesOf } from '#kube/rights.ts';
import { DEPLOYMENT_RIGHTS, RIGHTS } from '../rights.ts';
import { type InstallChoices, SERVER_NAME } from './choices.ts';
import { LABELS, type Manifest } from './manifest.ts';

const RBAC_GROUP = 'rbac.authorization.k8s.io';
const RBAC_VERSION = `${RBAC_GROUP}/v1`;

export function serviceAccount({ namespace }: Pick<InstallChoices, 'namespace'>): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: SERVER_NAME, namespace, labels: LABELS },
  };
}

/** Roles have a namespace; cluster roles have none, so two installations must differ by name. */
const clusterRoleName = (namespace: string): string => `${namespace}:${SERVER_NAME}`;

/** A Role and its binding in each namespace that is served; for all namespaces, a ClusterRole and its binding; one more for nodes. */
export function roles({
  namespace,
  served,
  computers,
  nodes,
}: Pick<InstallChoices, 'namespace' | 'served' | 'computers' | 'nodes'>): Manifest[] {
  const subjects = [{ kind: 'ServiceAccount', name: SERVER_NAME, namespace }];
  const pair = (rights: readonly Right[], kind: 'Role' | 'ClusterRole', name: string, at?: string): Manifest[] => {
    const metadata = { name, ...(at !== undefined && { namespace: at }), labels: LABELS };
    const roleRef = { apiGroup: RBAC_GROUP, kind, name };
    return [
      { apiVersion: RBAC_VERSION, kind, metadata, rules: rulesOf(rights) },
      { apiVersion: RBAC_VERSION, kind: `${kind}Binding`, metadata, roleRef, subjects },
    ];
  };
  const rights = computers ? [...RIGHTS, ...DEPLOYMENT_RIGHTS] : RIGHTS;
  const name = clusterRoleName(namespace);
  // Nodes have no namespace, whatever is served.
  const ofNodes = nodes ? pair(nodes.rights, 'ClusterRole', `${name}-nodes`) : [];
  if (served.length === 0) return [...pair(rights, 'ClusterRole', name), ...ofNodes];
  return [...served.flatMap((at) => pair(rights, 'Role', SERVER_NAME, at)), ...ofNodes];
}
