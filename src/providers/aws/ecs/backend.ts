import type { Backend, Context } from '#core/provider.ts';
import { bestEffort } from '#rest/best-effort.ts';
import { ec2At, ecsAt } from '../client.ts';
import { openAddresses } from './addresses.ts';
import type { EcsConfig } from './config.ts';
import { creationOf } from './create.ts';
import { openDefinitions } from './definitions.ts';
import { deletionOf } from './delete.ts';
import { openListing, openReader } from './listing.ts';

export async function openEcs(config: EcsConfig, context: Context): Promise<Backend> {
  const { cluster, log } = context;
  const { endpoint, clusterName } = config;
  const ecs = await ecsAt(context, { region: config.region, endpoint });
  await ecs.mustHaveCredentials();
  const { region, elsewhere } = ecs;
  const account = elsewhere === undefined ? `aws:${region}` : `aws:${region}@${elsewhere}`;
  const cloud = `${account}/ecs/${clusterName}`;
  const place = { ecs, cluster, clusterName };
  const reader = openReader(place);
  // Families belong to a region, and a listing to the first caller: pools share both.
  const definitions = context.shared(`ecs definitions ${account}`, () => openDefinitions(ecs, cluster));
  const listing = context.shared(`ecs listing ${cloud}`, () => {
    const addresses = openAddresses(() => ec2At(context, { region, endpoint }), log);
    return openListing(reader, cluster, addresses);
  });
  const warning = 'cannot remove task definitions that are not used any more';
  const tidy = (signal: AbortSignal): Promise<void> =>
    bestEffort({ log, signal, warning }, () => definitions.tidy(signal));
  return {
    cloud,
    account,
    async list(signal) {
      const machines = await listing.list(signal);
      await tidy(signal);
      return machines;
    },
    ...creationOf({ ...place, config, definitions, tidy, reader }),
    delete: deletionOf({ ...place, reader, listing }),
  };
}
