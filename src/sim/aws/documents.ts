// Documents as Terraform writes them into the Parameter Store of the simulated AWS.
import { GPU_BACKEND } from '../../providers/aws/fake/furniture.ts';
import { PREFIX, REGION } from './world.ts';

type Tree = Readonly<Record<string, unknown>>;

export const keyOf = (name: string, prefix = PREFIX): string => `${prefix}${name}`;

/** The seed's document of a pool, with limits that make a short story. */
export function documentOf(name: string, more: { readonly scaler?: Tree; readonly backend?: Tree } = {}): string {
  const backend = { region: REGION, ...GPU_BACKEND, ...more.backend };
  const auto_scaler = {
    backend: { aws_launch_template: backend },
    max_agents: 3,
    min_idle_agents: 1,
    max_idle_agents: 1,
    scale_up_error_retry_delay: '5s',
    sync_loop_interval: '60s',
    ...more.scaler,
  };
  return JSON.stringify({ name, auto_scaler });
}
