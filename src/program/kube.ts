import type { Environment } from '#config/environment.ts';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { openKube } from '#kube/client.ts';
import { openDefaultCluster } from '#kube/default-cluster.ts';
import type { KubeLocal } from '../cli/command.ts';
import { fetchWith } from '../edge/fetch-with.ts';
import { readProxies } from '../edge/proxies.ts';

const loadFiles = () => import('../providers/kubernetes/install/files.ts');

/** The commands about Kubernetes that run without a server. */
export function kubePart(environment: Environment): KubeLocal {
  return {
    async crd({ hasRules }) {
      const { crdFile, ruledCrdFile } = await loadFiles();
      return hasRules ? ruledCrdFile() : crdFile();
    },
    rbac: async (options) => (await loadFiles()).rbacFile(options),
    install: async (options) => (await loadFiles()).installFile(options),
    async release({ namespaces, server, context, signal }) {
      const { releaseAgentPools } = await import('../providers/kubernetes/install/release.ts');
      const variable = (name: string): string | undefined => environment.variable(name) || undefined;
      const access = await openDefaultCluster({ context }, { clock: systemClock, log: silentLog, variable });
      try {
        const proxyFor = readProxies(variable);
        const kube = openKube({ access, clock: systemClock, fetchWith: (reach) => fetchWith(reach, proxyFor) });
        return await releaseAgentPools({ kube, clock: systemClock }, { namespaces, server }, signal);
      } finally {
        await access.close?.();
      }
    },
  };
}
