import { type ConfigNode, nodeOf } from './tree.ts';

/** What a server without any file does: one pool of local agents that grows with the machine and shrinks when idle. */
export function defaultServerFile(cpus: number): ConfigNode {
  return nodeOf({
    // Local agents are processes that the listing shows or does not show: there is no cloud to be late.
    agent: { reconnect_grace: '10s' },
    agent_pools: [
      {
        name: 'local',
        description: 'Agents on this machine.',
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
