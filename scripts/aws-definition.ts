// AWS publishes the models of its services as part of botocore. Unpack its wheel, and run
//   node scripts/aws-definition.ts <folder of the wheel>
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { MethodDefinition } from '#fakes/check-request.ts';
import { EC2_ACTIONS } from '../src/providers/aws/fake/ec2/actions.ts';
import { ECS_ACTIONS } from '../src/providers/aws/fake/ecs/actions.ts';
import { EKS_ACTIONS } from '../src/providers/aws/fake/eks/actions.ts';
import { SSM_ACTIONS } from '../src/providers/aws/fake/ssm/actions.ts';
import { STS_ACTIONS } from '../src/providers/aws/fake/sts/actions.ts';
import { neededDefs, writeDefinition } from './write-definition.ts';

interface Member {
  readonly shape: string;
  readonly locationName?: string;
  readonly queryName?: string;
}

interface Shape {
  readonly type: string;
  readonly members?: Readonly<Record<string, Member>>;
  readonly member?: Member;
  readonly value?: Member;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
}

interface Model {
  readonly operations: Readonly<Record<string, { readonly input?: { readonly shape: string } }>>;
  readonly shapes: Readonly<Record<string, Shape>>;
}

const SERVICES = {
  ec2: { path: 'ec2/2016-11-15', actions: EC2_ACTIONS },
  ssm: { path: 'ssm/2014-11-06', actions: SSM_ACTIONS },
  sts: { path: 'sts/2011-06-15', actions: STS_ACTIONS },
  eks: { path: 'eks/2017-11-01', actions: EKS_ACTIONS },
  ecs: { path: 'ecs/2014-11-13', actions: ECS_ACTIONS },
} as const;
type Service = keyof typeof SERVICES;

const [folder = ''] = process.argv.slice(2);
const version = readdirSync(folder)
  .find((name) => name.endsWith('.dist-info'))
  ?.match(/-(.+)\.dist-info$/)?.[1];
const data = join(folder, 'botocore', 'data');
const modelOf = (path: string): Model =>
  JSON.parse(gunzipSync(readFileSync(join(data, path, 'service-2.json.gz'))).toString());
const models = Object.fromEntries(
  Object.entries(SERVICES).map(([service, { path }]) => [service, modelOf(path)]),
) as Record<Service, Model>;

// Instance types, of which new ones come every week: the fake looks them up in its region.
const LONGEST_ENUM = 200;

const NUMBERS: Readonly<Record<string, string>> = {
  integer: '^-?[0-9]+$',
  long: '^-?[0-9]+$',
  float: '^-?[0-9.]+$',
  double: '^-?[0-9.]+$',
};

const IN_JSON = new Set<Service>(['ssm', 'ecs']);

/** How a value that is no list and no structure travels: as JSON for SSM and ECS, as text for all others. */
function plainSchema(service: Service, { type, enum: values = [] }: Shape): object {
  const isText = !IN_JSON.has(service);
  if (type === 'boolean') return isText ? { enum: ['true', 'false'] } : { type: 'boolean' };
  if (NUMBERS[type]) return isText ? { type: 'string', pattern: NUMBERS[type] } : { type: 'number' };
  return values.length > 0 && values.length <= LONGEST_ENUM ? { enum: values } : { type: 'string' };
}

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** The name of a member in a request. */
function wireName(service: Service, name: string, { queryName, locationName }: Member): string {
  if (IN_JSON.has(service)) return name;
  if (service === 'ec2') return queryName ?? capital(locationName ?? name);
  return locationName ?? name;
}

const isPlain = ({ type }: Shape): boolean => !['structure', 'list', 'map'].includes(type);

function schemaOf(service: Service, { shape: name }: Member): object {
  const shape = models[service].shapes[name];
  if (!shape) throw new Error(`${service} has no shape ${name}.`);
  return isPlain(shape) ? plainSchema(service, shape) : { $ref: `#/$defs/${service}.${name}` };
}

function defOf(named: string): object {
  const [service, name] = named.split('.') as [Service, string];
  const { type, members = {}, member, value, required = [] } = models[service].shapes[name] as Shape;
  if (type === 'map') return { type: 'object', additionalProperties: value ? schemaOf(service, value) : {} };
  if (type === 'list' && member) {
    const list = { type: 'array', items: schemaOf(service, member) };
    // The query protocol of STS writes `Tags.member.1`, that of EC2 `Tag.1`.
    return service === 'sts' ? { type: 'object', properties: { member: list }, additionalProperties: false } : list;
  }
  const nameOf = (field: string): string => wireName(service, field, members[field] ?? { shape: '' });
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(members).map(([field, one]) => [nameOf(field), schemaOf(service, one)]),
    ),
    ...(required.length > 0 && { required: required.map(nameOf) }),
    additionalProperties: false,
  };
}

const methods = Object.fromEntries(
  Object.entries(SERVICES).flatMap(([service, { actions }]) =>
    Object.keys(actions).map((action): [string, MethodDefinition] => {
      const input = models[service as Service].operations[action]?.input;
      return [`${service}.${action}`, { query: {}, ...(input && { body: schemaOf(service as Service, input) }) }];
    }),
  ),
);
const command = 'node scripts/aws-definition.ts <its wheel, unpacked>';
const from = `botocore ${version} (PyPI)`;
writeDefinition({ provider: 'aws', from, command }, { methods, $defs: neededDefs(methods, defOf) });
