import { autoPool } from '#core/auto-pool.ts';
import { Fault } from '#core/fault.ts';
import { openListed } from '#core/listed-pools.ts';
import type { Context, Document, Source } from '#core/provider.ts';
import { mithrilAt } from '../client.ts';
import { bidFields } from '../config.ts';
import { offeredBy, typeIn } from '../instance-types.ts';
import type { AutoConfig } from './config.ts';

type Detail = AutoConfig['poolDetails'][number];

/** The pool of one entry of `pool_details`. */
function documentOf(config: AutoConfig, detail: Detail): Document & { text: string } {
  const { projectId, region, apiToken, sshKeyIds, apiEndpoint, maxSuspendedBids, allocationTimeout } = config;
  const { poolName, description, autoscalerConfig, ...own } = detail;
  return autoPool({
    key: poolName,
    name: poolName,
    description: description ?? `${detail.instanceType} in ${region}`,
    shared: config.autoscalerConfig,
    own: autoscalerConfig,
    backend: {
      kind: 'mithrilSpotBid',
      fields: bidFields,
      config: { projectId, region, apiToken, sshKeyIds, apiEndpoint, maxSuspendedBids, allocationTimeout, ...own },
    },
  });
}

/** The pools of `pool_details`; what Mithril does not offer is said in notes, and never keeps a pool back. */
export async function openAuto(config: AutoConfig, context: Context): Promise<Source> {
  async function unoffered(signal: AbortSignal): Promise<string[]> {
    const offered = await offeredBy(mithrilAt(config, context), signal);
    const found = config.poolDetails.flatMap(({ instanceType }) => {
      try {
        typeIn(offered, { instanceType, region: config.region });
        return [];
      } catch (thrown) {
        const { message, remedy } = Fault.from(thrown);
        return [`${message} ${remedy}`];
      }
    });
    return [...new Set(found)];
  }

  return openListed({
    documents: config.poolDetails.map((detail) => documentOf(config, detail)),
    clock: context.clock,
    checked: 'instance types',
    list: 'The list of instance types of Mithril',
    unoffered,
  });
}
