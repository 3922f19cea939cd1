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

/**
 * The tables of the documentation as rules: they must be enough, and nothing is granted that they do not name. That of
 * computers counts where it is asked for.
 */
export function documentedRights({ computers = false } = {}): readonly Right[] {
  const [, section = '', ofComputers = ''] = readFileSync(README, 'utf8').split(/^###? Rights/m);
  return (computers ? section + ofComputers : section).split('\n').flatMap((line) => {
    const [, resource = '', verbs = ''] = ROW.exec(line) ?? [];
    if (resource === '') return [];
    const [, plural = '', group = '', subresource = ''] = /^([a-z]+)\.?([a-z.]*)(\/[a-z]+)?$/.exec(resource) ?? [];
    return [{ apiGroups: [group], resources: [`${plural}${subresource}`], verbs: verbs.split(', ') }];
  });
}

const GROUP = 'rbac.authorization.k8s.io';

const ruled = (kind: string, metadata: object, rest: object): object => ({
  apiVersion: `${GROUP}/v1`,
  kind,
  metadata,
  ...rest,
});

/** A role with those rights, and the account bound to it; in the whole cluster where there is no namespace. */
function roleFor(namespace: string | undefined, rules: readonly Right[]): readonly object[] {
  const metadata = { name: ACCOUNT.name, ...(namespace && { namespace }) };
  const prefix = namespace ? '' : 'Cluster';
  const roleRef = { apiGroup: GROUP, kind: `${prefix}Role`, name: ACCOUNT.name };
  return [
    ruled(`${prefix}Role`, metadata, { rules }),
    ruled(`${prefix}RoleBinding`, metadata, { roleRef, subjects: [{ kind: 'ServiceAccount', ...ACCOUNT }] }),
  ];
}

const PLACE = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ACCOUNT.namespace } };

async function kubeconfigOfAccount(cluster: ControlPlane): Promise<string> {
  const token = await cluster.kubectl('create', 'token', ACCOUNT.name, '-n', ACCOUNT.namespace, '--duration=24h');
  return cluster.writeKubeconfig(ACCOUNT.name, token.trim());
}

/** Applies what `muster kube rbac` prints; answers the kubeconfig file of its account. */
export async function grantPrinted(cluster: ControlPlane, printed: string): Promise<string> {
  await cluster.apply(PLACE, printed);
  return kubeconfigOfAccount(cluster);
}

/** Makes the account and grants it those rights, in these namespaces or everywhere; answers its kubeconfig file. */
export async function grantRights(
  cluster: ControlPlane,
  namespaces?: readonly string[],
  rules: readonly Right[] = documentedRights(),
): Promise<string> {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: ACCOUNT };
  await cluster.apply(PLACE, account, ...(namespaces ?? [undefined]).flatMap((one) => roleFor(one, rules)));
  return kubeconfigOfAccount(cluster);
}
