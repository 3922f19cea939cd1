// How droplets are recognised: by the tags that they got when they were made, in the same call.
import { Fault } from '#core/fault.ts';
import { type Mark, USES, type Use } from '#core/provider.ts';
import type { Droplet } from '../api.ts';
import type { DropletConfig } from '../config.ts';

const CLUSTER = 'muster-cluster';
/** Named after what the machine is for: the tag holds the id of its owner. */
const OWNER: Readonly<Record<Use, string>> = { worker: 'muster-pool', computer: 'muster-computer' };
const SHAPE = 'muster-shape';

// What may follow the colon, so that a tag reads back as it was written.
const VALUE = /^[A-Za-z0-9_-]{1,200}$/;

function tagOf(key: string, value: string): string {
  if (!VALUE.test(value)) throw new Fault('invalid', `"${value}" cannot be part of a tag of DigitalOcean.`);
  return `${key}:${value}`;
}

/** What bears it is about to be deleted. */
export const endingTag = (cluster: string): string => tagOf('muster-ending', cluster);

export const clusterTag = (cluster: string): string => tagOf(CLUSTER, cluster);

/** All tags of the droplets of one launch. */
export function tagsFor({ tags = [], labels = {} }: DropletConfig, { cluster, use, owner, shape }: Mark): string[] {
  const own = Object.entries(labels).map(([key, value]) => `${key}:${value}`);
  return [clusterTag(cluster), tagOf(OWNER[use], owner), tagOf(SHAPE, shape), ...tags, ...own];
}

/** The mark that a droplet bears, if it bears a whole one. */
export function markOf({ tags }: Pick<Droplet, 'tags'>): Mark | undefined {
  const after = (key: string): string | undefined =>
    tags.find((tag) => tag.startsWith(`${key}:`))?.slice(key.length + 1);
  const [cluster, shape] = [after(CLUSTER), after(SHAPE)];
  const use = USES.find((each) => after(OWNER[each]) !== undefined);
  const owner = use && after(OWNER[use]);
  return cluster && use && owner && shape ? { cluster, use, owner, shape } : undefined;
}
