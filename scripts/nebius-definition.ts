// Nebius publishes its API as a Python package that carries the descriptors of its messages, with the rules of each
// field (protovalidate). Unpack its wheel, and run
//   node scripts/nebius-definition.ts <folder of the wheel>
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  create,
  createFileRegistry,
  type DescExtension,
  type DescField,
  type DescMessage,
  fromBinary,
  getOption,
  hasOption,
  toJson,
} from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import type { FieldDefinition, MessageDefinition } from '../src/providers/nebius/fake/check-message.ts';
import { PATHS } from '../src/providers/nebius/fake/wire.ts';

const [folder = ''] = process.argv.slice(2);
const version = readdirSync(folder)
  .find((name) => name.endsWith('.dist-info'))
  ?.match(/-(.+)\.dist-info$/)?.[1];

const REGISTERED = /_register_file\(\s*"([^"]+)",\s*b(['"])((?:\\.|(?!\2)[^\\])*)\2/gs;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/** The bytes of a literal as Python prints them. */
const bytesOf = (literal: string): Buffer =>
  Buffer.from(
    literal.replace(/\\(x[0-9a-f]{2}|.)/gs, (_all, code: string) =>
      code.length === 3 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (ESCAPES[code] ?? code),
    ),
    'latin1',
  );

const files = new Map<string, FileDescriptorProto>();
for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  if (!path.endsWith('__init__.py')) continue;
  for (const [, name = '', , literal = ''] of readFileSync(join(folder, path), 'utf8').matchAll(REGISTERED))
    files.set(name, fromBinary(FileDescriptorProtoSchema, bytesOf(literal)));
}
const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: [...files.values()] }));
const rulesOption = registry.getExtension('buf.validate.field') as DescExtension;

interface Rules {
  readonly required?: boolean;
  readonly string?: Readonly<Record<string, string>>;
  readonly repeated?: Readonly<Record<string, string>>;
  readonly cel?: readonly { readonly expression: string }[];
}

function rulesOf(field: DescField): Rules {
  if (!rulesOption.message || !hasOption(field, rulesOption)) return {};
  return toJson(rulesOption.message, getOption(field, rulesOption) as never, { registry }) as Rules;
}

const typeOf = (field: DescField): FieldDefinition['type'] => {
  if (field.fieldKind === 'map') return 'map';
  if (field.message) return { message: field.message.typeName };
  if (field.enum) return { values: field.enum.values.map(({ number }) => number) };
  return 'scalar';
};

/** The pattern of `this == '' || this.matches('…')`, the only form of expression that these messages use. */
const patternIn = (expression: string): string | undefined => {
  const pattern = expression.match(/^this == '' \|\| this\.matches\('(.+)'\)$/)?.[1];
  return pattern && `^$|${pattern}`;
};

function fieldOf(field: DescField): FieldDefinition {
  const { required, string = {}, repeated = {}, cel = [] } = rulesOf(field);
  const pattern = string.pattern ?? cel.map(({ expression }) => patternIn(expression))[0];
  return {
    name: field.name,
    type: typeOf(field),
    ...(field.fieldKind === 'list' && { isList: true }),
    ...(required && { required }),
    ...(field.fieldKind === 'scalar' && { scalar: field.scalar }),
    ...(string.maxLen && { longest: Number(string.maxLen) }),
    ...(string.maxBytes && { longest: Number(string.maxBytes) }),
    ...(repeated.maxItems && { most: Number(repeated.maxItems) }),
    ...(pattern && { pattern }),
  };
}

const messages: Record<string, MessageDefinition> = {};
function add(message: DescMessage): void {
  if (message.typeName in messages || message.typeName.startsWith('google.')) return;
  messages[message.typeName] = Object.fromEntries(message.fields.map((field) => [field.number, fieldOf(field)]));
  for (const field of message.fields) if (field.fieldKind !== 'map' && field.message) add(field.message);
}

const methods = PATHS.map((path) => {
  const [, service = '', name = ''] = path.split('/');
  const method = registry.getService(service)?.methods.find((one) => one.name === name);
  if (!method) throw new Error(`${path} is no method of Nebius.`);
  add(method.input);
  return [path, method.input.typeName] as const;
});

const lines = (entries: object): string =>
  Object.entries(entries)
    .map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`)
    .join('');
const text = `// Generated from nebius ${version} (PyPI) by \`node scripts/nebius-definition.ts <its wheel, unpacked>\`. Do not edit.
import type { MessageDefinition } from './check-message.ts';

/** The type of the request, by the path of the method. */
export const REQUESTS: Readonly<Record<string, string>> = {
${lines(Object.fromEntries(methods))}};

export const MESSAGES: Readonly<Record<string, MessageDefinition>> = {
${lines(messages)}};
`;
const target = join(import.meta.dirname, '..', 'src', 'providers', 'nebius', 'fake', 'definition.gen.ts');
writeFileSync(target, text);
