import { type Document, isScalar, LineCounter, parseAllDocuments, type YAMLError } from 'yaml';
import { Fault } from '#core/fault.ts';
import { type Parsed, problemAt } from './problem.ts';
import type { ConfigNode, Place } from './tree.ts';
import { type DocumentLimits, treeReader } from './yaml-tree.ts';

/** For the operator's own file: room for ten thousand pools. */
export const OPERATOR_LIMITS: DocumentLimits = { bytes: 16 * 2 ** 20, depth: 64, aliased: 200_000 };
/** For one document from outside: parsing it must not hold up the process. */
export const FOREIGN_LIMITS: DocumentLimits = { bytes: 256 * 2 ** 10, depth: 64, aliased: 10_000 };

/** Reads YAML or JSON, each value with its place; whatever is doubtful in it is refused. */
export function readDocument(text: string, limits: DocumentLimits = OPERATOR_LIMITS): Parsed<ConfigNode> {
  const why = whyNoDocument(text, limits);
  if (why !== undefined) return refuse(why);
  try {
    return parseYaml(text, limits);
  } catch (thrown) {
    // The parser runs out of stack on nesting that no sane document has.
    return refuse(`the document cannot be read: ${Fault.from(thrown).message}`);
  }
}

/** What is refused before any reader looks at it. */
export function whyNoDocument(text: string, limits: DocumentLimits): string | undefined {
  if (Buffer.byteLength(text) > limits.bytes) return `the document is larger than ${limits.bytes / 1024} KiB`;
  const [odd] = NO_TEXT.exec(text) ?? [];
  return odd === undefined ? undefined : `the document is not text: it holds the character ${nameOf(odd)}`;
}

const NO_TEXT = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

const nameOf = (character: string): string => `U+${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

function refuse(message: string): Parsed<ConfigNode> {
  return { problems: [problemAt('', undefined, message)], warnings: [] };
}

function parseYaml(text: string, limits: DocumentLimits): Parsed<ConfigNode> {
  const lines = new LineCounter();
  // Its own check for equal keys takes quadratic time; ours is in `readMap`.
  const options = {
    lineCounter: lines,
    uniqueKeys: false,
    stringKeys: true,
    prettyErrors: false,
    logLevel: 'silent',
  } as const;
  const documents: readonly Document.Parsed[] = parseAllDocuments(text, options);
  const placeOf = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  // A marker with nothing behind it makes an empty document that nobody meant.
  const [document, second] = documents.filter(({ contents }) => !isNothing(contents));
  const faulty = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  const problems = faulty.slice(0, 20).map((error) => problemAt('', placeOf(error.pos[0]), yamlMessage(error)));
  if (second && problems.length === 0) {
    problems.push(
      problemAt('', placeOf(second.range?.[0] ?? 0), 'a second document begins here; write one document a file'),
    );
  }
  if (problems.length > 0) return { problems, warnings: [] };
  if (!document) return { value: { is: 'scalar', value: null }, warnings: [] };
  const reader = treeReader(limits, placeOf);
  const value = reader.read(document.contents, '', 0);
  return reader.problems.length > 0 ? { problems: reader.problems, warnings: [] } : { value, warnings: [] };
}

const isNothing = (contents: unknown): boolean => contents === null || (isScalar(contents) && contents.source === '');

function yamlMessage({ code, message }: YAMLError): string {
  if (code === 'NON_STRING_KEY') return 'only plain words can be keys';
  if (code === 'TAG_RESOLVE_FAILED') return `${message}; write plain values without tags`;
  return `this is not YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}
