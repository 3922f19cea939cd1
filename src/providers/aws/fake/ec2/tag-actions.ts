import { refusal } from '#fakes/refusal.ts';
import { textsAt } from '../wire/params.ts';
import type { Xml } from '../wire/xml.ts';
import type { Ask } from '../world.ts';
import { ec2Page, named, readPageSize, seenInstances } from './describe-instances.ts';
import { filterOf } from './filters.ts';
import { checkCount, readTags } from './tags.ts';

/** The tags of everything that a call names; one that is unknown refuses all. */
function tagsOf(ask: Ask, ids: readonly string[]): Map<string, string>[] {
  const instances = named(
    ask,
    ids.filter((id) => id.startsWith('i-')),
  );
  const templates = ids
    .filter((id) => !id.startsWith('i-'))
    .map((id) => {
      const image = ask.region.images.get(id);
      const template = image?.tags ? { tags: image.tags } : ask.region.templates.get(id);
      if (!template) throw refusal('InvalidID', `The ID '${id}' is not valid`);
      return template;
    });
  return [...instances, ...templates].map(({ tags }) => tags);
}

export function createTags(ask: Ask): Readonly<Record<string, Xml>> {
  const added = readTags(ask.params);
  const all = tagsOf(ask, textsAt(ask.params, 'ResourceId'));
  for (const tags of all) checkCount(new Map([...tags, ...added]));
  for (const tags of all) for (const [key, value] of added) tags.set(key, value);
  return { return: true };
}

export function deleteTags(ask: Ask): Readonly<Record<string, Xml>> {
  const dropped = readTags(ask.params);
  for (const tags of tagsOf(ask, textsAt(ask.params, 'ResourceId'))) {
    for (const key of dropped.keys()) tags.delete(key);
  }
  return { return: true };
}

interface TagRow {
  readonly resource: string;
  readonly key: string;
  readonly value: string;
}

export function describeTags(ask: Ask): Readonly<Record<string, Xml>> {
  const passes = filterOf<TagRow>(
    ask.params,
    ({ resource, key, value }, name) => {
      const held: Readonly<Record<string, string>> = {
        'resource-id': resource,
        'resource-type': 'instance',
        key,
        value,
      };
      return [held[name]];
    },
    new Set(['resource-id', 'resource-type', 'key', 'value']),
  );
  const keyOf = ({ resource, key }: TagRow): string => `${resource} ${key}`;
  const rows = seenInstances(ask)
    .flatMap(({ id, tags }) => [...tags].map(([key, value]) => ({ resource: id, key, value })))
    .filter(passes)
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const { items, token } = ec2Page(ask, rows, { size: readPageSize(ask, { least: 5, most: 1_000 }), keyOf });
  return {
    tagSet: items.map(({ resource, key, value }) => ({
      resourceId: resource,
      resourceType: 'instance',
      key,
      value,
    })),
    nextToken: token,
  };
}
