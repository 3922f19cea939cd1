import { refusal } from '#fakes/refusal.ts';
import { membersAt, type Params, textAt } from '../wire/params.ts';
import type { Xml } from '../wire/xml.ts';

const MOST_TAGS = 50;
const LONGEST_KEY = 128;
const LONGEST_VALUE = 256;

function checkTag(key: string, value: string): void {
  if (key === '') throw refusal('InvalidParameterValue', 'Tag key cannot be empty.');
  if (key.toLowerCase().startsWith('aws:')) {
    throw refusal('InvalidParameterValue', `Tag keys starting with 'aws:' are reserved for internal use`);
  }
  if (key.length > LONGEST_KEY) {
    throw refusal(
      'InvalidParameterValue',
      `Tag key exceeds the maximum length of ${LONGEST_KEY} characters ('${key}').`,
    );
  }
  if (value.length > LONGEST_VALUE) {
    throw refusal('InvalidParameterValue', `Tag value exceeds the maximum length of ${LONGEST_VALUE} characters.`);
  }
}

/** Reads `Tag.n.Key` and `Tag.n.Value`, and refuses what AWS refuses. */
export function readTags(params: Params, name = 'Tag'): Map<string, string> {
  const tags = new Map<string, string>();
  for (const member of membersAt(params, name)) {
    const [key, value] = [textAt(member, 'Key') ?? '', textAt(member, 'Value') ?? ''];
    checkTag(key, value);
    if (tags.has(key)) throw refusal('InvalidParameterValue', `Duplicate tag key '${key}' specified.`);
    tags.set(key, value);
  }
  checkCount(tags);
  return tags;
}

/** Tags that AWS sets itself do not count. */
export function checkCount(tags: ReadonlyMap<string, string>): void {
  const own = [...tags.keys()].filter((key) => !key.startsWith('aws:')).length;
  if (own > MOST_TAGS) {
    throw refusal('TagLimitExceeded', `The maximum number of ${MOST_TAGS} tags has been reached for the resource.`);
  }
}

/** Tags that the machine itself shall see must have keys that can stand in a path. */
export function checkShown(tags: ReadonlyMap<string, string>): void {
  const wrong = [...tags.keys()].find((key) => !/^[0-9a-zA-Z\-_+=,.@:]+$/.test(key) || /^(\.\.?|_index)$/.test(key));
  if (wrong === undefined) return;
  throw refusal(
    'InvalidParameterValue',
    `'${wrong}' is not a valid tag key. Tag keys must match pattern ([0-9a-zA-Z\\-_+=,.@:]{1,255}), and must not be a reserved name ('.', '..', '_index')`,
  );
}

/** What `TagSpecification` says about resources of one type. */
export function specifiedTags(params: Params, resource: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const specification of membersAt(params, 'TagSpecification')) {
    const read = readTags(specification);
    if (textAt(specification, 'ResourceType') !== resource) continue;
    for (const [key, value] of read) tags.set(key, value);
  }
  return tags;
}

export function tagSet(tags: ReadonlyMap<string, string>): Xml {
  return [...tags].map(([key, value]) => ({ key, value }));
}
