// The plain manifests: what `muster kube` prints, and what stands in deploy/kubernetes.
import { stringify } from 'yaml';
import { type Right, rulesOf } from '#kube/rights.ts';
import { AGENT_POOL_CRD, AGENT_POOL_CRD_WITH_RULES } from '../agent-pool/crd.ts';
import { DEPLOYMENT_RIGHTS, RIGHTS } from '../rights.ts';
import { checkChoices, type GivenChoices, type InstallChoices } from './choices.ts';
import { type Manifest, renderManifests } from './manifest.ts';
import { roles, serviceAccount } from './rbac.ts';
import { RELEASE_RIGHTS } from './release.ts';
import { serverManifests } from './server.ts';

const CRD = AGENT_POOL_CRD as unknown as Manifest;
const CRD_WITH_RULES = AGENT_POOL_CRD_WITH_RULES as unknown as Manifest;

const namespaceOf = ({ namespace }: InstallChoices): Manifest => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: namespace },
});

const definitionOf = ({ nodes }: InstallChoices): Manifest[] => (nodes ? [nodes.definition as Manifest] : []);

const rbacOf = (choices: InstallChoices): Manifest[] => [serviceAccount(choices), ...roles(choices)];

/** The rules of RBAC for the templates of the Helm chart; those about nodes come from the feature that sizes them. */
export function chartRights(nodes: {
  readonly rights: readonly Right[];
  readonly releaseRights: readonly Right[];
}): string {
  const comment =
    '# What the server may do, what it may do for computers and with nodes, and what the Job before an uninstallation may do. Made by "npm run gen".';
  const rights = {
    server: rulesOf(RIGHTS),
    computers: rulesOf(DEPLOYMENT_RIGHTS),
    nodes: rulesOf(nodes.rights),
    release: {
      pools: rulesOf(RELEASE_RIGHTS.pools),
      server: rulesOf(RELEASE_RIGHTS.server),
      nodes: rulesOf(nodes.releaseRights),
    },
  };
  return `${comment}\n${stringify(rights, { aliasDuplicateObjects: false })}`;
}

/** The definition of AgentPools. */
export function crdFile(): string {
  return renderManifests(
    ['AgentPools, which Muster turns into pools. Made by `muster kube crd`; Kubernetes 1.19 or newer.'],
    [CRD],
  );
}

/** The same with rules, so that `kubectl apply` refuses what the server would refuse. */
export function ruledCrdFile(): string {
  return renderManifests(
    [
      'AgentPools, which Muster turns into pools, with rules that the API server checks. Made by `muster kube crd --rules`;',
      'Kubernetes 1.25 or newer. An older API server ignores the rules, and its kubectl needs --validate=false.',
    ],
    [CRD_WITH_RULES],
  );
}

/** The definition of NodeProvisioners, as the feature that sizes nodes has made it. */
export function nodesCrdFile(definition: object): string {
  return renderManifests(
    ['NodeProvisioners, by which Muster sizes GPU node groups. Made by `muster kube crd --nodes`.'],
    [definition as Manifest],
  );
}

/** The account of the server and its rights; the namespace must exist. */
export function rbacFile(given: GivenChoices = {}): string {
  const choices = checkChoices(given);
  const where = choices.served.length === 0 ? 'in every namespace' : `in ${choices.served.join(', ')}`;
  return renderManifests(
    [
      `The account of the Muster server in the namespace ${choices.namespace}, and all that its code does ${where}.`,
      'Made by `muster kube rbac`.',
    ],
    rbacOf(choices),
  );
}

/** The server alone: the CRD and the rights are files of their own. */
export function serverFileText(given: GivenChoices = {}): string {
  const choices = checkChoices(given);
  return renderManifests(
    [
      'The Muster server. Apply agentpool-crd.yaml and velda-rbac.yaml too; `muster kube install` prints all three.',
      '',
      'Its state is in SQLite on a volume: one replica, and an upgrade stops the old one first. For several replicas use',
      'PostgreSQL: `muster kube install --replicas 2 --postgres-secret NAME`, where the key `url` of that Secret is',
      'postgres://user:password@host/database. Then there is no volume, and one replica takes over from the other.',
    ],
    [namespaceOf(choices), serviceAccount(choices), ...serverManifests(choices)],
  );
}

/** Everything, in the order in which kubectl must apply it. */
export function installFile(given: GivenChoices = {}): string {
  const choices = checkChoices(given);
  return renderManifests(
    ['Muster in this cluster: CRD, rights, server. Made by `muster kube install`.'],
    [namespaceOf(choices), CRD_WITH_RULES, ...definitionOf(choices), ...rbacOf(choices), ...serverManifests(choices)],
  );
}
