import { Fault } from '#core/fault.ts';
import type { Backend, Context } from '#core/provider.ts';
import { accountOf } from '../compute/client.ts';
import type { GroupConfig } from './config.ts';
import { creatorOf } from './create.ts';
import { factsOf } from './facts.ts';
import { advisedOn, groupAt, listGroup } from './group.ts';
import { machineOf } from './machine.ts';
import { removerOf } from './remove.ts';

/** Instances of a managed instance group: each by a name of ours, never by the size of the group. */
export async function openInstanceGroup(config: GroupConfig, context: Context): Promise<Backend> {
  const group = groupAt(config, context);
  await factsOf(group, new AbortController().signal);
  return {
    cloud: group.cloud,
    account: accountOf(group.compute),
    reusesNames: true,
    async list(signal) {
      const marked = await listGroup(group, signal).catch(async (thrown) => {
        throw await advisedOn(group, Fault.from(thrown), signal);
      });
      return [...marked.values()].filter(({ mark }) => mark.cluster === group.cluster).map(machineOf);
    },
    ...creatorOf(group, config),
    delete: removerOf(group),
    form: async (signal) => (await factsOf(group, signal)).form,
  };
}
