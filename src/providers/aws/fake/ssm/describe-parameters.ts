import { inOrder } from '#fakes/paging.ts';
import { refusal } from '#fakes/refusal.ts';
import type { Parameter } from '../region.ts';
import type { Ask } from '../world.ts';
import { ssmPage } from './get-parameters.ts';
import { type Answer, arnOf, invalid, latest, orderedNames, seconds, textOf } from './parameter.ts';
import { readTagList } from './put-parameter.ts';

interface ParameterFilter {
  readonly Key: string;
  readonly Option?: string;
  readonly Values?: readonly string[];
}

function isUnder(name: string, path: string, option: string): boolean {
  const prefix = path.endsWith('/') ? path : `${path}/`;
  return name.startsWith(prefix) && (option === 'Recursive' || !name.slice(prefix.length).includes('/'));
}

function heldBy(parameter: Parameter, key: string): string | undefined {
  switch (key) {
    case 'Name':
      return parameter.name;
    case 'Type':
      return parameter.kind;
    case 'Tier':
      return parameter.tier;
    case 'KeyId':
      return parameter.keyId;
    default:
      if (key.startsWith('tag:')) return parameter.tags.get(key.slice('tag:'.length));
      throw refusal('InvalidFilterKey', `The specified key isn't valid: ${key}.`);
  }
}

function passes(
  parameter: Parameter,
  { Key: key, Option: option = 'Equals', Values: values = [] }: ParameterFilter,
): boolean {
  if (key === 'Path') return values.some((path) => isUnder(parameter.name, path, option));
  const held = heldBy(parameter, key);
  if (held === undefined) return false;
  if (values.length === 0) return true;
  if (option === 'BeginsWith') return values.some((value) => held.startsWith(value));
  return values.some((value) => (option === 'Contains' ? held.includes(value) : held === value));
}

function oldFilters(body: Answer): ParameterFilter[] {
  return ((body.Filters ?? []) as readonly ParameterFilter[]).map((one) => ({ ...one, Option: 'BeginsWith' }));
}

export function describeParameters(ask: Ask): Answer {
  const { region, body, principal } = ask;
  const filters = [...((body.ParameterFilters ?? []) as readonly ParameterFilter[]), ...oldFilters(body)];
  const found = orderedNames(region)
    .map((name) => region.parameters.get(name) as Parameter)
    // Public parameters belong to AWS: they are read by name or path, and not described.
    .filter((one) => !one.name.startsWith('/aws/') && filters.every((filter) => passes(one, filter)));
  const { items, token } = ssmPage(
    ask,
    inOrder(found, ({ name }) => name),
    50,
  );
  return {
    Parameters: items.map((parameter) => ({
      Name: parameter.name,
      ARN: arnOf(ask, parameter.name),
      Type: parameter.kind,
      KeyId: parameter.keyId,
      Description: parameter.description,
      Version: latest(parameter).version,
      LastModifiedDate: seconds(latest(parameter).atMs),
      LastModifiedUser: principal.arn,
      AllowedPattern: parameter.allowedPattern,
      Tier: parameter.tier,
      Policies: [],
      DataType: parameter.dataType,
    })),
    NextToken: token,
  };
}

function tagged({ region, body }: Ask): Parameter {
  if (textOf(body, 'ResourceType') !== 'Parameter') {
    throw refusal('InvalidResourceType', `The resource type ${body.ResourceType} isn't valid.`);
  }
  const parameter = region.parameters.get(textOf(body, 'ResourceId') ?? '');
  if (!parameter)
    throw refusal(
      'InvalidResourceId',
      "The resource ID isn't valid. Verify that you entered the correct ID and try again.",
    );
  return parameter;
}

export function listTagsForResource(ask: Ask): Answer {
  return { TagList: [...tagged(ask).tags].map(([Key, Value]) => ({ Key, Value })) };
}

export function addTagsToResource(ask: Ask): Answer {
  const { tags } = tagged(ask);
  for (const [key, value] of readTagList(ask.body.Tags)) tags.set(key, value);
  if (tags.size > 50) throw refusal('TooManyTagsError', 'The Tags parameter includes too many tags.');
  return {};
}

export function removeTagsFromResource(ask: Ask): Answer {
  const keys = ask.body.TagKeys;
  if (!Array.isArray(keys))
    throw invalid("Value null at 'tagKeys' failed to satisfy constraint: Member must not be null");
  const { tags } = tagged(ask);
  for (const key of keys as readonly string[]) tags.delete(key);
  return {};
}

export function getParameterHistory(ask: Ask): Answer {
  const parameter = ask.region.parameters.get(textOf(ask.body, 'Name') ?? '');
  if (!parameter) throw refusal('ParameterNotFound', `Parameter ${ask.body.Name} not found.`);
  return {
    Parameters: parameter.versions.map(({ value, version, atMs }) => ({
      Name: parameter.name,
      Type: parameter.kind,
      Value: value,
      Version: version,
      LastModifiedDate: seconds(atMs),
      Labels: [],
      Tier: parameter.tier,
    })),
  };
}
