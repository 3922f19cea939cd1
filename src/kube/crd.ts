// CustomResourceDefinitions from zod schemas: structural OpenAPI v3. Rules in CEL need Kubernetes 1.25, all else 1.19.
import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import { apiVersionOf, CUSTOM_RESOURCES, type KubeResource, qualifiedName } from './resource.ts';

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** Above 0: only with `-o wide`. */
  readonly priority?: number;
}

export interface CustomResource {
  readonly resource: KubeResource;
  readonly singular: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly description: string;
  /** Of the object's own keys: `spec` and whatever else people write. */
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
  readonly columns: readonly PrinterColumn[];
  /** Where `kubectl scale` finds the number of replicas, and writes it. */
  readonly scale?: { readonly specReplicasPath: string; readonly statusReplicasPath: string };
}

/** A rule in CEL that an object must keep; a schema carries them in its `meta` as `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
}

type Json = Readonly<Record<string, unknown>>;

// What of JSON schema a structural schema has, with the same meaning.
const KEPT = [
  'description',
  'default',
  'enum',
  'format',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'multipleOf',
  'required',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-validations',
] as const;

// Rules of JSON schema for which a structural schema has no word.
const UNKNOWN = ['$ref', 'allOf', 'not', 'if', 'uniqueItems', 'prefixItems', 'contains', 'patternProperties'] as const;

const OPEN = { 'x-kubernetes-preserve-unknown-fields': true } as const;

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isNull = (schema: Json): boolean => schema.type === 'null';

/** Whether it is the union of a whole number and text, for which Kubernetes has a word of its own. */
const isIntOrText = (branches: readonly Json[]): boolean =>
  branches.length === 2 &&
  branches.some(({ type }) => type === 'integer') &&
  branches.some(({ type }) => type === 'string');

function unionOf(schema: Json, branches: readonly Json[], at: string): Json {
  const present = branches.filter((branch) => !isNull(branch));
  const nullable = present.length < branches.length ? { nullable: true } : {};
  const described = kept(schema);
  const [only] = present;
  if (present.length === 1 && only) return { ...structural(only, at), ...described, ...nullable };
  if (isIntOrText(present)) return { ...described, ...nullable, 'x-kubernetes-int-or-string': true };
  throw new Fault('internal', `The schema of ${at} is a union, which a CustomResourceDefinition cannot express.`, {
    remedy: 'Describe it as one type, or as an open object, and check the rest when it is read.',
  });
}

function kept(schema: Json): Json {
  const rest = KEPT.filter((key) => schema[key] !== undefined).map((key) => [key, schema[key]] as const);
  return { ...Object.fromEntries(rest), ...(schema.const !== undefined && { enum: [schema.const] }) };
}

/** The bounds that zod writes for every whole number say nothing. */
function withoutSafeBounds(schema: Json): Json {
  const { minimum, maximum, ...rest } = schema;
  return {
    ...rest,
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
  };
}

// JSON schema gives the bound itself, OpenAPI v3 a flag beside the bound.
function exclusiveBounds({ exclusiveMinimum, exclusiveMaximum }: Json): Json {
  return {
    ...(typeof exclusiveMinimum === 'number' && { minimum: exclusiveMinimum, exclusiveMinimum: true }),
    ...(typeof exclusiveMaximum === 'number' && { maximum: exclusiveMaximum, exclusiveMaximum: true }),
  };
}

function objectOf(schema: Json, at: string): Json {
  const { properties, additionalProperties } = schema;
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true ? OPEN : {};
  if (isRecord(properties)) {
    const inner = Object.entries(properties).map(([key, value]) => [key, structural(value as Json, `${at}.${key}`)]);
    return { type: 'object', ...kept(schema), properties: Object.fromEntries(inner), ...open };
  }
  // A structural schema has either the keys or the form of all values.
  if (isRecord(additionalProperties) && Object.keys(additionalProperties).length > 0)
    return { type: 'object', ...kept(schema), additionalProperties: structural(additionalProperties, `${at}.*`) };
  return { type: 'object', ...kept(schema), ...OPEN };
}

/** The forms that a value may have, however JSON schema writes them; nothing where there is one. */
function branchesOf(schema: Json): readonly Json[] | undefined {
  if (Array.isArray(schema.type)) return schema.type.map((type: unknown) => ({ ...schema, type }));
  const branches = schema.anyOf ?? schema.oneOf;
  return Array.isArray(branches) ? branches : undefined;
}

function structural(schema: Json, at: string): Json {
  const branches = branchesOf(schema);
  if (branches) return unionOf(schema, branches, at);
  const unknown = UNKNOWN.find((key) => schema[key] !== undefined);
  if (unknown !== undefined)
    throw new Fault('internal', `A CustomResourceDefinition cannot express ${unknown} of ${at}.`);
  switch (schema.type) {
    case 'object':
      return objectOf(schema, at);
    case 'array':
      return { type: 'array', ...kept(schema), items: structural((schema.items ?? {}) as Json, `${at}[]`) };
    case 'integer':
      return { type: 'integer', ...withoutSafeBounds({ ...kept(schema), ...exclusiveBounds(schema) }) };
    case 'number':
      return { type: 'number', ...kept(schema), ...exclusiveBounds(schema) };
    case 'string':
    case 'boolean':
      return { type: schema.type, ...kept(schema) };
    case undefined:
      if (Array.isArray(schema.enum) && schema.enum.every((value) => typeof value === 'string'))
        return { type: 'string', ...kept(schema) };
      return { ...kept(schema), ...OPEN };
    default:
      throw new Fault('internal', `The schema of ${at} has the type ${String(schema.type)}.`);
  }
}

/** A zod schema as a structural schema; what Kubernetes cannot express is a fault, never left out in silence. */
export function structuralSchema(schema: z.ZodType, at = 'spec'): Json {
  const written = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'input',
    reused: 'inline',
    unrepresentable: 'any',
  });
  return structural(written as Json, at);
}

/** An object whose keys we do not name, all of which are kept: a pod template. */
export const openObject = () =>
  z.record(z.string(), z.unknown()).meta({ 'x-kubernetes-preserve-unknown-fields': true });

/** The manifest that `kubectl apply -f` takes. */
export function customResourceDefinition(custom: CustomResource): Json {
  const { resource, singular, shortNames = [], categories = [], columns } = custom;
  const { group, version, plural, kind } = resource;
  return {
    apiVersion: apiVersionOf(CUSTOM_RESOURCES),
    kind: CUSTOM_RESOURCES.kind,
    metadata: { name: qualifiedName(resource) },
    spec: {
      group,
      scope: resource.isNamespaced ? 'Namespaced' : 'Cluster',
      names: { plural, singular, kind, listKind: `${kind}List`, shortNames, categories },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {}, ...(custom.scale && { scale: custom.scale }) },
          additionalPrinterColumns: columns,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description: custom.description,
              required: ['spec'],
              properties: {
                // The API server describes these itself, and refuses a description of metadata.
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                spec: structuralSchema(custom.spec, 'spec'),
                status: structuralSchema(custom.status, 'status'),
              },
            },
          },
        },
      ],
    },
  };
}
