// The simulated cluster as users run it, to try AgentPools without a cluster.
import type { RunningSimulation, Simulation } from '#core/simulation.ts';
import type { NodeDraft } from './pods/nodes.ts';
import { serveKubernetes } from './serve.ts';

// Fast enough to watch, slow enough to see every state.
const BEHAVIOUR = { scheduleMs: 50, startMs: 500, retryMs: 2_000 };

/** Room for pools of every usual kind: one node has accelerators, and takes only what tolerates it. */
const NODES: readonly NodeDraft[] = [
  { name: 'node-1' },
  { name: 'node-2' },
  {
    name: 'gpu-1',
    labels: { 'cloud.google.com/gke-accelerator': 'nvidia-tesla-a100' },
    allocatable: { 'nvidia.com/gpu': '8' },
    taints: [{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }],
  },
];

const TRIES = [
  'kubectl apply -f deploy/kubernetes/agentpool-crd.yaml',
  "cat > muster.yaml <<'END'",
  'provisioners:',
  '  - kubernetes: { namespace: default }',
  'END',
  'npx muster server --config muster.yaml   # every AgentPool of the namespace becomes a pool',
  'kubectl get agentpools,pods --watch',
];

async function start(options: Parameters<Simulation['start']>[0]): Promise<RunningSimulation> {
  const served = await serveKubernetes({ ...options, behaviour: BEHAVIOUR, nodes: NODES });
  return {
    address: served.address,
    folder: served.folder,
    environment: { KUBECONFIG: served.kubeconfig },
    tries: TRIES,
    close: () => served.close(),
  };
}

export default { summary: 'an API server for kubectl, whose pods run agents', start } satisfies Simulation;
