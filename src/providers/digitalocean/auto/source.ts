import { autoPool } from '#core/auto-pool.ts';
import { openListed } from '#core/listed-pools.ts';
import type { Context, Document, Source } from '#core/provider.ts';
import { digitalOceanAt } from '../client.ts';
import { dropletFields } from '../config.ts';
import { accessFor } from '../endpoint.ts';
import { findUnlisted } from '../sizes.ts';
import type { AutoConfig } from './config.ts';

type Detail = AutoConfig['poolDetails'][number];

/** The pool of one entry of `pool_details`. */
function documentOf(config: AutoConfig, detail: Detail): Document & { text: string } {
  const { region, apiToken, apiEndpoint, sshKeyIds, labels } = config;
  const { poolName, description, autoscalerConfig, ...own } = detail;
  return autoPool({
    key: poolName,
    name: poolName,
    description: description ?? `${detail.size} in ${region}`,
    shared: config.autoscalerConfig,
    own: autoscalerConfig,
    backend: {
      kind: 'digitaloceanDroplet',
      fields: dropletFields,
      config: { region, apiToken, apiEndpoint, sshKeyIds, labels, ...own },
    },
  });
}

/** The pools of `pool_details`; what DigitalOcean does not list is said in notes, and never keeps a pool back. */
export async function openAuto(config: AutoConfig, context: Context): Promise<Source> {
  async function unoffered(signal: AbortSignal): Promise<string[]> {
    const found = new Set<string>();
    for (const { size } of config.poolDetails) {
      const api = digitalOceanAt(accessFor(config, size, context), context);
      for (const note of await findUnlisted(api, { size, region: config.region }, signal)) found.add(note);
    }
    return [...found];
  }

  return openListed({
    documents: config.poolDetails.map((detail) => documentOf(config, detail)),
    clock: context.clock,
    checked: 'sizes and region',
    list: 'The list of sizes of DigitalOcean',
    unoffered,
  });
}
