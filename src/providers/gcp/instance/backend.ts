import type { Backend, Context } from '#core/provider.ts';
import { accountOf } from '../compute/client.ts';
import { accountAt, look } from './account.ts';
import { changerOf } from './change.ts';
import type { InstanceConfig } from './config.ts';
import { creatorOf } from './create.ts';
import { machineOf } from './machine.ts';

/** Instances that we make ourselves, without a group. */
export async function openInstances(config: InstanceConfig, context: Context): Promise<Backend> {
  const account = accountAt(config, context);
  const change = changerOf(account);
  const backend: Backend = {
    cloud: account.cloud,
    account: accountOf(account.compute),
    async list(signal) {
      const { byName } = await look(account, signal);
      return [...byName.values()].flatMap((instance) => machineOf(instance) ?? []);
    },
    create: creatorOf({ account, config }),
    delete: (machines, signal) => change('delete', machines, signal),
    form: (signal) => account.image(config.image, signal),
  };
  if (config.maxStoppedInstances === 0 || config.provisioningModel === 'spot') return backend;
  const suspend: Backend['delete'] = (machines, signal) => change('stop', machines, signal);
  const resume: Backend['delete'] = (machines, signal) => change('start', machines, signal);
  return { ...backend, park: { most: config.maxStoppedInstances, suspend, resume } };
}
