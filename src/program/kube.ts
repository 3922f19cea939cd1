import type { Environment } from '#config/environment.ts';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { openKube } from '#kube/client.ts';
import { openDefaultCluster } from '#kube/default-cluster.ts';
import type { KubeLocal } from '../cli/command.ts';
import { fetchWith } from '../edge/fetch-with.ts';
import { readProxies } from '../edge/proxies.ts';

const loadFiles = () => import('../providers/kubernetes/install/files.ts');

/** What `--nodes` adds: a provider knows no feature, so it is handed in here. */
async function nodesPart() {
  const [{ NODE_POOL_CRD }, { NODE_RIGHTS }] = await Promise.all([
    import('../nodes/crd.ts'),
    import('../nodes/rights.ts'),
  ]);
  return { definition: NODE_POOL_CRD, rights: NODE_RIGHTS };
}

/** The commands about Kubernetes that run without a server. */
export function kubePart(environment: Environment): KubeLocal {
  return {
    async crd({ hasRules, ofNodes }) {
      const { crdFile, nodesCrdFile, ruledCrdFile } = await loadFiles();
      if (ofNodes) return nodesCrdFile((await nodesPart()).definition);
      return hasRules ? ruledCrdFile() : crdFile();
    },
    rbac: async ({ nodes, ...options }) =>
      (await loadFiles()).rbacFile({ ...options, nodes: nodes ? await nodesPart() : undefined }),
    install: async ({ nodes, ...options }) =>
      (await loadFiles()).installFile({ ...options, nodes: nodes ? await nodesPart() : undefined }),
    async release({ namespaces, server, nodes, context, signal }) {
      const { releaseAgentPools } = await import('../providers/kubernetes/install/release.ts');
      const { releaseNodes } = await import('../nodes/release.ts');
      const variable = (name: string): string | undefined => environment.variable(name) || undefined;
      const access = await openDefaultCluster({ context }, { clock: systemClock, log: silentLog, variable });
      try {
        const proxyFor = readProxies(variable);
        const kube = openKube({ access, clock: systemClock, fetchWith: (reach) => fetchWith(reach, proxyFor) });
        const pools = await releaseAgentPools({ kube, clock: systemClock }, { namespaces, server }, signal);
        return nodes ? [...pools, ...(await releaseNodes(kube, signal))] : pools;
      } finally {
        await access.close?.();
      }
    },
  };
}
