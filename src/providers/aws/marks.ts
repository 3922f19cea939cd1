// How machines are recognised: by the tags that they got when they were made, in the same call.
import { type Launch, type Mark, USES, type Use } from '#core/provider.ts';

export const CLUSTER = 'muster:cluster';
/** Named after what the machine is for: the tag holds the id of its owner. */
const OWNER: Readonly<Record<Use, string>> = { worker: 'muster:pool', computer: 'muster:computer' };
const SHAPE = 'muster:shape';
export const LAUNCH = 'muster:launch';
/** The name of a machine that was started alone. */
export const NAME = 'muster:name';
/** The port that its agent serves. */
export const PORT = 'muster:port';

type Tags = ReadonlyMap<string, string>;

/** The tags of a launch, by key. */
export const launchTags = ({ id, mark }: Pick<Launch, 'id' | 'mark'>): Readonly<Record<string, string>> => ({
  [CLUSTER]: mark.cluster,
  [OWNER[mark.use]]: mark.owner,
  [SHAPE]: mark.shape,
  [LAUNCH]: id,
});

/** The mark that a machine bears, if it bears a whole one. */
export function markOf(tags: Tags): Mark | undefined {
  const [cluster, shape] = [tags.get(CLUSTER), tags.get(SHAPE)];
  const use = USES.find((each) => tags.has(OWNER[each]));
  const owner = use && tags.get(OWNER[use]);
  return cluster && use && owner && shape ? { cluster, use, owner, shape } : undefined;
}

/** The port that its launch named, if it named one. */
export function portIn(tags: Tags): number | undefined {
  const port = Number(tags.get(PORT) ?? '');
  return port > 0 ? port : undefined;
}
