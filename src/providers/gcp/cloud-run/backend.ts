import type { Backend, Context } from '#core/provider.ts';
import { accountOf, cloudRunAt } from './client.ts';
import type { CloudRunConfig } from './config.ts';
import { creatorOf } from './create.ts';
import { listServices } from './listing.ts';
import { machineOf } from './machine.ts';
import { removerOf } from './remove.ts';

/** Services of Cloud Run, one for each machine. */
export async function openServices(config: CloudRunConfig, context: Context): Promise<Backend> {
  const { cluster } = context;
  const run = cloudRunAt(config, context);
  const account = accountOf(run);
  return {
    cloud: `${account}:run/${run.region}`,
    account,
    list: async (signal) => (await listServices(run, cluster, signal)).flatMap((service) => machineOf(service) ?? []),
    ...creatorOf(run, config, cluster),
    delete: removerOf(run, cluster),
  };
}
