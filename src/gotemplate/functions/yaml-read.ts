// YAML as sigs.k8s.io/yaml reads it, which Helm uses: by the Go library yaml v2, and then as JSON.
import { isAlias, isMap, isScalar, isSeq, type Node, parseDocument, Scalar, type ScalarTag, type YAMLMap } from 'yaml';
import { Fault } from '#core/fault.ts';
import { floatText } from '../fmt/float.ts';
import type { RenderBudget } from '../limits.ts';
import { textOfBytes } from '../value/bytes.ts';
import { fitsInt64 } from '../value/numbers.ts';
import { Float, GoMap, GoSlice, type Value } from '../value/value.ts';
import { isTimestamp, plainValue, type YamlScalar } from './yaml-resolve.ts';

const tag = (name: string): string => `tag:yaml.org,2002:${name}`;

/** A scalar with a tag is read as a plain one, and must then be of its type. */
const tagged = (name: string, isOfType: (value: YamlScalar) => boolean): ScalarTag => ({
  tag: tag(name),
  resolve(text, onError) {
    const value = plainValue(text);
    if (!isOfType(value)) onError(`cannot decode \`${text}\` as a !!${name}`);
    return value;
  },
});

const TAGS: readonly ScalarTag[] = [
  { tag: tag('plain'), default: true, test: /^/, resolve: plainValue },
  tagged('int', (value) => typeof value === 'bigint'),
  tagged('float', (value) => typeof value === 'number' || typeof value === 'bigint'),
  tagged('bool', (value) => typeof value === 'boolean'),
  tagged('null', (value) => value === null),
  tagged('timestamp', (value) => typeof value === 'string' && isTimestamp(value)),
  { tag: tag('binary'), resolve: (text) => textOfBytes(Buffer.from(text, 'base64')) },
];

/** What reading a document keeps: the anchors so far, and the nodes that the present one stands within. */
interface Reading {
  readonly budget: RenderBudget;
  readonly anchors: Map<string, Node>;
  readonly within: Set<Node>;
}

function scalarValue(value: unknown): Value {
  if (typeof value === 'bigint') return new Float(Number(value));
  if (typeof value !== 'number') return value as string | boolean | null;
  if (Number.isFinite(value)) return new Float(value);
  throw new Fault('invalid', 'json: unsupported value');
}

/** The node itself, or that of an alias. */
function nodeOf(given: unknown, { anchors }: Reading): Node | undefined {
  const node = isAlias(given) ? anchors.get(given.source) : ((given ?? undefined) as Node | undefined);
  if (node && 'anchor' in node && typeof node.anchor === 'string') anchors.set(node.anchor, node);
  return node;
}

function keyText(key: unknown): string {
  const value = isScalar(key) ? key.value : undefined;
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint' && fitsInt64(value)) return String(value);
  if (typeof value === 'number') return floatText(value);
  throw new Fault('invalid', 'unsupported map key');
}

const isMergeKey = (key: unknown): boolean => isScalar(key) && key.value === '<<' && key.type === Scalar.PLAIN;

/** A merged map overrides what stands before it: so does yaml v2, against the rule of YAML. */
function mergeInto(entries: Map<string, Value>, value: Value): void {
  if (value instanceof GoMap) {
    for (const [key, item] of value.entries) entries.set(key, item);
  } else if (value instanceof GoSlice && value.items.every((item) => item instanceof GoMap)) {
    for (const item of value.items.toReversed()) mergeInto(entries, item);
  } else {
    throw new Fault('invalid', 'map merge requires map or sequence of maps as the value');
  }
}

function mapValue({ items }: YAMLMap, reading: Reading): GoMap {
  const entries = new Map<string, Value>();
  for (const pair of items) {
    const key = nodeOf(pair.key, reading);
    const item = nodeValue(pair.value, reading);
    if (isMergeKey(key)) mergeInto(entries, item);
    else entries.set(keyText(key), item);
  }
  return new GoMap(entries);
}

/** By JSON, as in Helm: every number is a float64, every key a string, every alias a copy. */
function nodeValue(given: unknown, reading: Reading): Value {
  const { budget, within } = reading;
  budget.step();
  const node = nodeOf(given, reading);
  if (!node) return null;
  if (within.has(node)) throw new Fault('invalid', 'an anchor contains itself');
  if (isScalar(node)) return scalarValue(node.value);
  within.add(node);
  const value = isMap(node)
    ? mapValue(node, reading)
    : new GoSlice(isSeq(node) ? node.items.map((item) => nodeValue(item, reading)) : []);
  within.delete(node);
  return value;
}

/** What the first document of a text holds. */
export function parseYaml(text: string, budget: RenderBudget): Value {
  // Reading a character of YAML takes as long as two actions; beginning to, as a dozen.
  budget.step(12 + text.length * 2);
  try {
    const document = parseDocument(text, {
      version: '1.1',
      schema: 'failsafe',
      customTags: (known) => [...known, ...TAGS],
      resolveKnownTags: false,
      merge: false,
      uniqueKeys: false,
      logLevel: 'silent',
    });
    const error = document.errors.find(({ code }) => code !== 'MULTIPLE_DOCS');
    if (error) throw error;
    return nodeValue(document.contents, { budget, anchors: new Map(), within: new Set() });
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind === 'quota') throw thrown;
    throw new Fault('invalid', `error converting YAML to JSON: ${fault.message}`);
  }
}
