// How machines are recognised: by the tags that they got when they were made, in the same call.
import type { Instance, Tag } from '@aws-sdk/client-ec2';
import { nameAt } from '#core/id.ts';
import { type Launch, type Mark, USES, type Use } from '#core/provider.ts';
import type { LaunchConfig } from '../config.ts';

export const CLUSTER = 'muster:cluster';
/** Named after what the machine is for: the tag holds the id of its owner. */
const OWNER: Readonly<Record<Use, string>> = { worker: 'muster:pool', computer: 'muster:computer' };
const SHAPE = 'muster:shape';
export const LAUNCH = 'muster:launch';
/** The name of a machine that was started alone. */
export const NAME = 'muster:name';
/** What the names of machines have in common that were started together. */
export const STEM = 'muster:stem';
/** The port that its agent serves. */
const PORT = 'muster:port';

/** Set where workers are called as their instances. */
const BY_ID = 'muster:by-id';

/** Who the machines of one call are. */
export type Who = { readonly name: string } | { readonly stem: string };

function prefixOf({ instanceNamePrefix, launchTemplateName }: LaunchConfig): string {
  return instanceNamePrefix ?? (launchTemplateName === undefined ? '' : `${launchTemplateName}-`);
}

/** All tags of the instances of one call; the user's own may set `Name`, and nothing else of ours. */
export function tagsFor(
  config: LaunchConfig,
  { id, mark, boot }: Pick<Launch, 'id' | 'mark' | 'boot'>,
  who: Who,
): Tag[] {
  const called = 'name' in who ? who.name : who.stem;
  const tags = {
    Name: `${prefixOf(config)}${called}`.slice(0, 256),
    ...config.tags,
    [CLUSTER]: mark.cluster,
    [OWNER[mark.use]]: mark.owner,
    [SHAPE]: mark.shape,
    [LAUNCH]: id,
    ...('name' in who ? { [NAME]: who.name } : { [STEM]: who.stem }),
    ...(config.useInstanceIdAsName ? { [BY_ID]: 'yes' } : {}),
    ...(boot.port !== undefined && { [PORT]: String(boot.port) }),
  };
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}

/** The tags of an instance by key. */
export function tagsOf({ Tags = [] }: Instance): ReadonlyMap<string, string> {
  return new Map(Tags.map(({ Key = '', Value = '' }) => [Key, Value]));
}

/** The mark that an instance bears, if it bears a whole one. */
export function markOf(tags: ReadonlyMap<string, string>): Mark | undefined {
  const [cluster, shape] = [tags.get(CLUSTER), tags.get(SHAPE)];
  const use = USES.find((each) => tags.has(OWNER[each]));
  const owner = use && tags.get(OWNER[use]);
  return cluster && use && owner && shape ? { cluster, use, owner, shape } : undefined;
}

/** The port that its launch named, if it named one. */
export function portIn(tags: ReadonlyMap<string, string>): number | undefined {
  const port = Number(tags.get(PORT) ?? '');
  return port > 0 ? port : undefined;
}

/** The name that an instance got from its launch. */
export function launchNameOf({ AmiLaunchIndex = 0 }: Instance, tags: ReadonlyMap<string, string>): string | undefined {
  const stem = tags.get(STEM);
  return tags.get(NAME) ?? (stem && nameAt(stem, AmiLaunchIndex));
}

/** The name of an instance in the rest of the program; it comes from its tags alone, for many pools share one listing. */
export function nameOf(instance: Instance, tags = tagsOf(instance)): string | undefined {
  return tags.has(BY_ID) ? instance.InstanceId : launchNameOf(instance, tags);
}
