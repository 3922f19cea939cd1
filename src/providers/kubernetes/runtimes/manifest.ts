// The one object that a template of a runtime gives. YAML is read as the Kubernetes tools read it.
import {
  type Document,
  isMap,
  isScalar,
  LineCounter,
  parseAllDocuments,
  type Scalar,
  type ScalarTag,
  type Tags,
  visit,
} from 'yaml';
import { Fault } from '#core/fault.ts';
import type { KubeObject } from '#kube/object.ts';
import { apiVersionOf, type KubeResource } from '#kube/resource.ts';

export interface ExpectedManifest {
  readonly resource: KubeResource;
  readonly name: string;
  readonly namespace: string;
  /** Of the template. */
  readonly path: string;
}

const OCTAL: ScalarTag = {
  default: true,
  tag: 'tag:yaml.org,2002:int',
  test: /^[-+]?0o[0-7]+$/,
  resolve: (text) => Number.parseInt(text.replace('0o', ''), 8),
};

/**
 * sigs.k8s.io/yaml reads YAML 1.1: `0644` is octal, `on` is true. Beyond that it knows `0o644`, and leaves times and
 * numbers to base 60 as the texts they are.
 */
const asKubernetes = (tags: Tags): Tags => [
  OCTAL,
  ...tags.filter(
    (tag) => typeof tag === 'string' || !(tag.tag.endsWith(':timestamp') || ('format' in tag && tag.format === 'TIME')),
  ),
];

// Reading a value takes some 10 µs, and others wait meanwhile. A large manifest has a thousand.
const MOST_VALUES = 3_000;
const MOST_CHARACTERS = 256 * 1024;

/** At least as many as there are values in the text. */
function valuesIn(text: string): number {
  let count = 1;
  for (const char of text) if ('\n,:[{?'.includes(char)) count += 1;
  return count;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A YAML document that was read, and how to refuse a part of it with file and line. */
interface Reading {
  readonly value: Fields;
  refuse(message: string, ...keys: string[]): Fault;
}

/** The object with its name and namespace; anything else is refused with file and line. */
export function readManifest(text: string, expected: ExpectedManifest): KubeObject {
  const { resource, name, namespace, path } = expected;
  const { value, refuse } = readYaml(text, path);
  const { kind, apiVersion } = value;
  if (kind !== resource.kind || apiVersion !== apiVersionOf(resource)) {
    const found = `${String(apiVersion)} ${String(kind)}`;
    throw refuse(`${apiVersionOf(resource)} ${resource.kind} is wanted, not ${found}`, 'kind');
  }
  /** A map that may be absent. */
  const fieldsAt = (outer: Fields, ...keys: string[]): Fields => {
    const inner = outer[keys.at(-1) ?? ''] ?? {};
    if (isFields(inner)) return inner;
    throw refuse(`${keys.join('.')} must be a map`, ...keys);
  };
  const metadata = fieldsAt(value, 'metadata');
  for (const [key, wanted] of Object.entries({ name, namespace })) {
    if (metadata[key] === undefined || metadata[key] === wanted) continue;
    throw refuse(`${key} must be ${wanted} or absent, not ${String(metadata[key])}`, 'metadata', key);
  }
  for (const key of ['labels', 'annotations']) fieldsAt(metadata, 'metadata', key);
  const { volumeClaimTemplates: claims = [] } = fieldsAt(value, 'spec');
  if (!Array.isArray(claims) || !claims.every(isFields))
    throw refuse('spec.volumeClaimTemplates must be a list of claims', 'spec', 'volumeClaimTemplates');
  return { ...value, metadata: { ...metadata, name, namespace } };
}

function readYaml(text: string, path: string): Reading {
  const lines = new LineCounter();
  const refuseAt = (message: string, offset = 0): Fault => {
    // Before anything is parsed there are no lines yet.
    const line = Math.max(1, lines.linePos(offset).line);
    return new Fault('invalid', `${path}: line ${line} of what it renders: ${message}`, { at: `${path}:${line}` });
  };
  if (text.length > MOST_CHARACTERS || valuesIn(text) > MOST_VALUES)
    throw refuseAt(`it is too large: ${MOST_VALUES} values and ${MOST_CHARACTERS} characters are the limit`);
  const [document, second] = documentsIn(text, lines, refuseAt);
  const [error] = document?.errors ?? [];
  if (error) throw refuseAt(`this is no YAML: ${error.message.split('\n')[0]}`, error.pos[0]);
  if (!document || !isMap(document.contents)) throw refuseAt('one object is wanted');
  const twice = keyNamedTwice(document);
  if (twice) throw refuseAt(`this is no YAML: ${String(twice.value)} stands there twice`, twice.range?.[0]);
  if (second) throw refuseAt('a second object follows; one is wanted', second.range?.[0]);
  const offsetOf = (keys: readonly string[]): number =>
    (document.getIn(keys, true) as { range?: readonly number[] } | undefined)?.range?.[0] ?? 0;
  try {
    return { value: document.toJS() as Fields, refuse: (message, ...keys) => refuseAt(message, offsetOf(keys)) };
  } catch (thrown) {
    // References that multiply each other, or maps within maps without end.
    throw refuseAt(`this is no YAML: ${(thrown as Error).message}`);
  }
}

function documentsIn(text: string, lineCounter: LineCounter, refuse: (message: string) => Fault) {
  const options = { version: '1.1', merge: true, customTags: asKubernetes, logLevel: 'silent' } as const;
  try {
    const documents = parseAllDocuments(text, { ...options, lineCounter, uniqueKeys: false });
    return Array.isArray(documents) ? documents : [];
  } catch (thrown) {
    throw refuse(`this is no YAML: ${(thrown as Error).message}`);
  }
}

/** The library looks for these by comparing each key with all before it. */
function keyNamedTwice(document: Document.Parsed): Scalar | undefined {
  let found: Scalar | undefined;
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          found = key;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}
