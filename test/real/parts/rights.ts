// The account that a server in the cluster has, with the rights that the documentation asks for and no others.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlPlane } from './control-plane.ts';

const README = join(import.meta.dirname, '..', '..', '..', 'src/providers/kubernetes/README.md');

export const ACCOUNT = { name: 'velda-apiserver', namespace: 'velda' };
export const ACCOUNT_USER = `system:serviceaccount:${ACCOUNT.namespace}:${ACCOUNT.name}`;

export interface Right {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const ROW = /^\| `([^`]+)` \| ([a-z, ]+) \|/;

/** The table of the documentation as rules: it must be enough, and nothing is granted that it does not name. */
export function documentedRights(): readonly Right[] {
  const [, section = ''] = readFileSync(README, 'utf8').split('## Rights');
  return section.split('\n').flatMap((line) => {
    const [, resource = '', verbs = ''] = ROW.exec(line) ?? [];
    if (resource === '') return [];
    const [, plural = '', group = '', subresource = ''] = /^([a-z]+)\.?([a-z.]*)(\/[a-z]+)?$/.exec(resource) ?? [];
    return [{ apiGroups: [group], resources: [`${plural}${subresource}`], verbs: verbs.split(', ') }];
  });
}

const GROUP = 'rbac.authorization.k8s.io';

/** Makes the account and grants it those rights in each namespace; answers its kubeconfig file. */
export async function grantRights(cluster: ControlPlane, namespaces: readonly string[]): Promise<string> {
  const all = [...new Set([ACCOUNT.namespace, ...namespaces])].filter((name) => name !== 'default');
  await cluster.apply(...all.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })));
  const name = ACCOUNT.name;
  await cluster.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: ACCOUNT },
    ...namespaces.flatMap((namespace) => [
      { apiVersion: `${GROUP}/v1`, kind: 'Role', metadata: { name, namespace }, rules: documentedRights() },
      {
        apiVersion: `${GROUP}/v1`,
        kind: 'RoleBinding',
        metadata: { name, namespace },
        roleRef: { apiGroup: GROUP, kind: 'Role', name },
        subjects: [{ kind: 'ServiceAccount', ...ACCOUNT }],
      },
    ]),
  );
  const token = await cluster.kubectl('create', 'token', name, '-n', ACCOUNT.namespace, '--duration=24h');
  return cluster.writeKubeconfig(name, token.trim());
}
