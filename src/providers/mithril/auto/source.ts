import { answered } from '#core/answer.ts';
import { autoPool } from '#core/auto-pool.ts';
import { Fault } from '#core/fault.ts';
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

// The pools do not depend on the answer, so it is not waited for longer.
const CHECK_WITHIN_MS = 5_000;

/** The pools of `pool_details`; what Mithril does not offer is said in notes, and never keeps a pool back. */
export async function openAuto(config: AutoConfig, context: Context): Promise<Source> {
  const { clock } = context;
  const documents = config.poolDetails.map((detail) => documentOf(config, detail));
  let notes: readonly string[] = [];

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

  return {
    isDefinite: true,
    async documents(held, signal) {
      if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
      const patience = { clock, what: 'The list of instance types of Mithril', withinMs: CHECK_WITHIN_MS };
      notes = await answered(patience, signal, unoffered).catch((thrown) => [
        `instance types could not be checked: ${Fault.from(thrown).message}`,
      ]);
      if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
      return documents.map(({ key, version, text }) =>
        held.get(key) === version ? { key, version } : { key, version, text },
      );
    },
    notes: () => notes,
  };
}
