import { autoPool } from '#core/auto-pool.ts';
import { openListed } from '#core/listed-pools.ts';
import type { Context, Document, Source } from '#core/provider.ts';
import { nebiusAt } from '../client.ts';
import { instanceFields } from '../config.ts';
import { platformsOf, unoffered } from '../platforms.ts';
import type { AutoConfig } from './config.ts';

type Detail = AutoConfig['poolDetails'][number];

/** The pool of one entry of `pool_details`. */
function documentOf(config: AutoConfig, detail: Detail): Document & { text: string } {
  const { autoscalerConfig: shared, poolDetails: _pools, updateInterval: _interval, ...base } = config;
  const { agentVersionOverride: _version, tailscaleConfig: _tailscale, ...instance } = base;
  const { poolName, description, autoscalerConfig: own, ...type } = detail;
  return autoPool({
    key: poolName,
    name: poolName,
    description: description ?? `${detail.resourcePreset} of ${detail.platform}`,
    shared,
    own,
    backend: { kind: 'nebiusLaunchTemplate', fields: instanceFields, config: { ...instance, ...type } },
  });
}

/** The pools of `pool_details`; what Nebius does not offer is said in notes, and never keeps a pool back. */
export async function openAuto(config: AutoConfig, context: Context): Promise<Source> {
  return openListed({
    documents: config.poolDetails.map((detail) => documentOf(config, detail)),
    clock: context.clock,
    checked: 'platforms and presets',
    list: 'The list of platforms of Nebius',
    async unoffered(signal) {
      const platforms = await platformsOf(nebiusAt(config, context), config.parentId, signal);
      return [...new Set(config.poolDetails.flatMap((detail) => unoffered(platforms, detail) ?? []))];
    },
  });
}
