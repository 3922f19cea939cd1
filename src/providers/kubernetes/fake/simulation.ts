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

// The template mounts no file: Muster gives the pods the agent's file itself.
const TRIES = [
  'npx muster kube crd | kubectl apply -f -',
  "kubectl apply -f - <<'END'",
  'apiVersion: velda.io/v1',
  'kind: AgentPool',
  'metadata: { name: pods, namespace: default }',
  'spec:',
  '  autoscaler: { minIdle: 1, maxIdle: 2, maxReplicas: 3 }',
  '  template:',
  '    metadata: { labels: { app: agent } }',
  '    spec: { containers: [{ name: agent, image: muster/agent }] }',
  'END',
  "cat > muster.yaml <<'END'",
  'provisioners:',
  '  - kubernetes: { namespace: default }',
  'END',
  'npx muster server --config muster.yaml   # every AgentPool of the namespace becomes a pool',
  '',
  '# in another terminal, in the same folder:',
  'npx muster run --pool pods -- uname -a',
  'kubectl get agentpools,pods',
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
