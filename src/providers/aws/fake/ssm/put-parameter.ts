import { Buffer } from 'node:buffer';
import { refusal } from '#fakes/refusal.ts';
import type { Parameter, ParameterKind } from '../region.ts';
import type { Ask } from '../world.ts';
import { type Answer, dropParameter, invalid, latest, setParameter, textOf } from './parameter.ts';

const LIMITS: Readonly<Record<Parameter['tier'], number>> = {
  Standard: 4_096,
  Advanced: 8_192,
  'Intelligent-Tiering': 8_192,
};
const DEEPEST = 15;
const MOST_VERSIONS = 100;
const KINDS: readonly string[] = ['String', 'StringList', 'SecureString'];

function checkName(name: string): void {
  if (!/^[a-zA-Z0-9_.\-/]+$/.test(name) || name.length > 1_011) {
    throw invalid(
      'Parameter name: can\'t be prefixed with "ssm" (case-insensitive). If formed as a path, it can consist of sub-paths divided by slash symbol; each sub-path can be formed as a mix of letters, numbers and the following 3 symbols .-_',
    );
  }
  if (name.includes('/') && !name.startsWith('/')) {
    throw invalid('Parameter name must be a fully qualified name.');
  }
  if (/^\/?(aws|ssm)/i.test(name)) {
    throw refusal('AccessDeniedException', `No access to reserved parameter name: ${name}.`);
  }
  if (name.split('/').length - 1 > DEEPEST) {
    throw refusal('HierarchyLevelLimitExceededException', `Parameter hierarchy can have at most ${DEEPEST} levels.`);
  }
}

function checkValue(value: string, tier: Parameter['tier']): void {
  const limit = LIMITS[tier];
  if (Buffer.byteLength(value) <= limit) return;
  const more =
    tier === 'Standard'
      ? ' To create a larger parameter value, upgrade the parameter to use the advanced-parameter tier.'
      : '';
  throw invalid(
    `${tier === 'Standard' ? 'Standard' : 'Advanced'} tier parameters support a maximum parameter value of ${limit} characters.${more}`,
  );
}

function checkPattern(value: string, pattern: string | undefined): void {
  if (pattern === undefined || new RegExp(pattern).test(value)) return;
  throw refusal(
    'ParameterPatternMismatchException',
    `Parameter value, cannot be validated against allowedPattern: ${pattern}`,
  );
}

export function readTagList(tags: unknown): Map<string, string> {
  const list = (tags ?? []) as readonly { readonly Key: string; readonly Value: string }[];
  return new Map(list.map(({ Key, Value }) => [Key, Value]));
}

function readKind(body: Answer, before: Parameter | undefined): ParameterKind {
  const kind = textOf(body, 'Type') ?? before?.kind;
  if (kind === undefined) throw invalid('A parameter type is required when you create a parameter.');
  if (!KINDS.includes(kind)) {
    throw refusal('UnsupportedParameterType', `The parameter type ${kind} isn't supported.`);
  }
  return kind as ParameterKind;
}

function checkOverwrite(body: Answer, before: Parameter | undefined, kind: ParameterKind): void {
  if (!before) return;
  if (body.Overwrite !== true) {
    throw refusal(
      'ParameterAlreadyExists',
      'The parameter already exists. To overwrite this value, set the overwrite option in the request to true.',
    );
  }
  if (body.Tags !== undefined) {
    throw invalid("Tags can't be specified when overwriting an existing parameter. Use AddTagsToResource.");
  }
  if (before.kind !== kind) {
    throw refusal('HierarchyTypeMismatchException', `The type of ${before.name} cannot be changed to ${kind}.`);
  }
}

export function putParameter({ region, body, nowMs }: Ask): Answer {
  const [name, value] = [textOf(body, 'Name') ?? '', textOf(body, 'Value') ?? ''];
  checkName(name);
  if (value === '')
    throw invalid(
      "Value '' at 'value' failed to satisfy constraint: Member must have length greater than or equal to 1",
    );
  const before = region.parameters.get(name);
  const kind = readKind(body, before);
  checkOverwrite(body, before, kind);
  const tier = (textOf(body, 'Tier') ?? before?.tier ?? 'Standard') as Parameter['tier'];
  checkValue(value, tier);
  const allowedPattern = textOf(body, 'AllowedPattern');
  checkPattern(value, allowedPattern);
  const version = before ? latest(before).version + 1 : 1;
  setParameter(region, {
    name,
    kind,
    tier,
    description: textOf(body, 'Description'),
    keyId: kind === 'SecureString' ? (textOf(body, 'KeyId') ?? 'alias/aws/ssm') : undefined,
    dataType: textOf(body, 'DataType') ?? 'text',
    allowedPattern,
    versions: [...(before?.versions ?? []), { value, version, atMs: nowMs }].slice(-MOST_VERSIONS),
    tags: before?.tags ?? readTagList(body.Tags),
  });
  return { Version: version, Tier: tier };
}

export function deleteParameter({ region, body }: Ask): Answer {
  const name = textOf(body, 'Name') ?? '';
  if (!dropParameter(region, name)) throw refusal('ParameterNotFound', `Parameter ${name} not found.`);
  return {};
}

export function deleteParameters({ region, body }: Ask): Answer {
  const names = (body.Names ?? []) as readonly string[];
  const deleted = names.filter((name) => dropParameter(region, name));
  return { DeletedParameters: deleted, InvalidParameters: names.filter((name) => !deleted.includes(name)) };
}
