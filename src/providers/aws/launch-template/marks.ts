// What the tags of an instance say: its name, alone or with those that were started together.
import type { Instance, Tag } from '@aws-sdk/client-ec2';
import { nameAt } from '#core/id.ts';
import type { Launch } from '#core/provider.ts';
import type { LaunchConfig } from '../config.ts';
import { launchTags, NAME, PORT } from '../marks.ts';

/** What the names of machines have in common that were started together. */
export const STEM = 'muster:stem';

/** Set where workers are called as their instances. */
const BY_ID = 'muster:by-id';

/** Who the machines of one call are. */
export type Who = { readonly name: string } | { readonly stem: string };

function prefixOf({ instanceNamePrefix, launchTemplateName }: LaunchConfig): string {
  return instanceNamePrefix ?? (launchTemplateName === undefined ? '' : `${launchTemplateName}-`);
}

/** All tags of the instances of one call; the user's own may set `Name`, and nothing else of ours. */
export function tagsFor(config: LaunchConfig, launch: Pick<Launch, 'id' | 'mark' | 'boot'>, who: Who): Tag[] {
  const { boot } = launch;
  const called = 'name' in who ? who.name : who.stem;
  const tags = {
    Name: `${prefixOf(config)}${called}`.slice(0, 256),
    ...config.tags,
    ...launchTags(launch),
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

/** The name that an instance got from its launch. */
export function launchNameOf({ AmiLaunchIndex = 0 }: Instance, tags: ReadonlyMap<string, string>): string | undefined {
  const stem = tags.get(STEM);
  return tags.get(NAME) ?? (stem && nameAt(stem, AmiLaunchIndex));
}

/** The name of an instance in the rest of the program; it comes from its tags alone, for many pools share one listing. */
export function nameOf(instance: Instance, tags = tagsOf(instance)): string | undefined {
  return tags.has(BY_ID) ? instance.InstanceId : launchNameOf(instance, tags);
}
