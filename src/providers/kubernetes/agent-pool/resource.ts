import type { KubeResource } from '#kube/resource.ts';

/** AgentPools, as Velda's own CRD names them. */
export const AGENT_POOLS: KubeResource = {
  group: 'velda.io',
  version: 'v1',
  plural: 'agentpools',
  kind: 'AgentPool',
  isNamespaced: true,
};
