import { type ConfigNode, nodeOf } from './tree.ts';

/** What a server without any file does: one pool of local agents that grows with the machine and shrinks when idle. */
export function defaultServerFile(cpus: number): ConfigNode {
  return nodeOf({
    agent_pools: [
      {
        name: 'local',
        description: 'Agents on this very machine.',
        auto_scaler: {
          backend: { process: {} },
          max_agents: Math.max(2, cpus),
          min_idle_agents: 1,
          max_idle_agents: 2,
          idle_decay: '30s',
        },
      },
    ],
  });
}
