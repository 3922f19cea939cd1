// Refuses requests that Google's discovery documents do not have, in the words of its APIs.
import { fieldPath, openRequestCheck, type RequestFlaw } from '#fakes/check-request.ts';
import { type Refusal, refusal } from '#fakes/refusal.ts';
import { definition } from './definition.gen.ts';
import type { GcpCall } from './read-call.ts';

const check = openRequestCheck(definition);

/** Where the fake has one action for what Google has several methods for, or another name: by the start of both. */
const METHODS: readonly (readonly [action: string, inPath: string, method: string])[] = [
  ['compute.operations.', '/zones/', 'compute.zoneOperations.'],
  ['compute.operations.', '/regions/', 'compute.regionOperations.'],
  ['compute.operations.', '/global/', 'compute.globalOperations.'],
  ['compute.instanceGroupManagers.', '/regions/', 'compute.regionInstanceGroupManagers.'],
  ['compute.instanceGroupManagerResizeRequests.', '/regions/', 'compute.regionInstanceGroupManagerResizeRequests.'],
  ['compute.instanceTemplates.', '/regions/', 'compute.regionInstanceTemplates.'],
  ['container.', '', 'container.projects.locations.'],
  ['run.', '', 'run.projects.locations.'],
  ['iamcredentials.', '', 'iamcredentials.projects.serviceAccounts.'],
  ['storage.buckets.create', '', 'storage.buckets.insert'],
  ['storage.objects.create', '', 'storage.objects.insert'],
];

/** The id of the method in its discovery document. */
export function methodOf({ action, path }: Pick<GcpCall, 'action' | 'path'>): string {
  const found = METHODS.find(([start, inPath]) => action.startsWith(start) && path.includes(inPath));
  return found ? action.replace(found[0], found[2]) : action;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'TYPE_STRING',
  number: 'TYPE_INT64',
  int: 'TYPE_INT64',
  integer: 'TYPE_UINT32',
  boolean: 'TYPE_BOOL',
};

/** As the messages behind the API name a field. */
const snake = (path: string): string => path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function unknown({ at, path }: RequestFlaw): Refusal {
  const name = path.at(-1);
  const where = snake(fieldPath(path.slice(0, -1)));
  const why =
    at === 'query'
      ? `: Cannot bind query parameter. Field '${name}' could not be found in request message.`
      : `${where === '' ? '' : ` at '${where}'`}: Cannot find field.`;
  return refusal('badRequest', `Invalid JSON payload received. Unknown name "${name}"${why}`);
}

function refusalFor(flaw: RequestFlaw): Refusal {
  const { at, kind, path, received, expected } = flaw;
  const field = at === 'body' ? ['resource', ...path] : path;
  if (kind === 'unknown') return unknown(flaw);
  if (kind === 'missing') return refusal('required', `Required field '${fieldPath(field)}' not specified`);
  if (kind === 'type') {
    const type = TYPES[String(expected)] ?? 'TYPE_MESSAGE';
    return refusal('badRequest', `Invalid value at '${snake(fieldPath(path))}' (${type}), ${JSON.stringify(received)}`);
  }
  const pattern = typeof expected === 'string' ? expected.replace(/^\^\(\?:(.*)\)\$$/, '$1') : undefined;
  const why = pattern === undefined ? '' : ` Must be a match of regex '${pattern}'`;
  return refusal('invalid', `Invalid value for field '${fieldPath(field)}': '${received}'.${why}`);
}

/** Google reads booleans of a query in any case of letters; clients in Python write them with a capital. */
const queryOf = ({ query }: GcpCall): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, /^(true|false)$/i.test(value) ? value.toLowerCase() : value]),
  );

/** Throws for the first flaw. Cloud Storage ignores an unknown parameter; that is no reason to send one. */
export function checkCall(call: GcpCall): void {
  // The chunks of an upload are a protocol of their own, which no document describes.
  if (call.query.upload_id !== undefined) return;
  const body = call.content.length === 0 ? undefined : call.body;
  const [flaw] = check(methodOf(call), { query: queryOf(call), body });
  if (flaw) throw refusalFor(flaw);
}
