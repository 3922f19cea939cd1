import { Fault } from '#core/fault.ts';
import type { Backend, Context } from '#core/provider.ts';
import { accountOf } from '../compute/client.ts';
import type { GroupConfig } from './config.ts';
import { creatorOf } from './create.ts';
import { factsOf } from './facts.ts';
import { advisedOn, groupAt, lookSince } from './group.ts';
import { machineOf } from './machine.ts';
import { removerOf } from './remove.ts';

/** Instances of a managed instance group: each by a name of ours, never by the size of the group. */
export async function openInstanceGroup(config: GroupConfig, context: Context): Promise<Backend> {
  const group = groupAt(config, context);
  const { clock, cluster } = group;
  await factsOf(group, new AbortController().signal);
  return {
    cloud: group.cloud,
    account: accountOf(group.compute),
    reusesNames: true,
    async list(signal) {
      const { marked } = await lookSince(group, clock.monotonic(), signal).catch(async (thrown) => {
        throw await advisedOn(group, Fault.from(thrown), signal);
      });
      return [...marked.values()].filter(({ mark }) => mark.cluster === cluster).map(machineOf);
    },
    create: creatorOf({ group, config }),
    delete: removerOf(group),
    // Creations look more often than the program lists.
    known(name) {
      const found = group.last?.marked.get(name);
      return found?.mark.cluster === cluster ? machineOf(found) : undefined;
    },
    form: async (signal) => (await factsOf(group, signal)).form,
  };
}
