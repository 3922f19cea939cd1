// Refuses requests that the models of Azure's own clients do not have, in the words of its services.
import { fieldPath, openRequestCheck, type RequestFlaw } from '#fakes/check-request.ts';
import { type Refusal, refusal } from '#fakes/refusal.ts';
import { partTypeIn } from './compute/part-calls.ts';
import { definition } from './definition.gen.ts';
import type { AzureCall } from './read-call.ts';

const check = openRequestCheck(definition);

/** The name in the definition; interfaces, addresses and disks are of different services. */
export function methodOf({ action, path }: Pick<AzureCall, 'action' | 'path'>): string {
  const name = action.slice(action.indexOf('.') + 1);
  return name.startsWith('part') ? `${name} ${partTypeIn(path)}` : name;
}

/** Names of parameters are read without regard to case; the token of a page is in links that Azure wrote itself. */
function queryOf({ params }: AzureCall, method: string): Record<string, string> {
  const known = Object.keys(definition.methods[method]?.query ?? {});
  const entries = Object.entries(params).map(([name, value]) => {
    const own = known.find((one) => one.toLowerCase() === name.toLowerCase());
    return [own ?? name, value] as const;
  });
  return Object.fromEntries(entries.filter(([name]) => name !== '$skiptoken'));
}

const NET_TYPES: Readonly<Record<string, string>> = {
  string: 'System.String',
  number: 'System.Nullable`1[System.Int32]',
  int: 'System.Nullable`1[System.Int32]',
  integer: 'System.Nullable`1[System.Int32]',
  boolean: 'System.Nullable`1[System.Boolean]',
};

/** Where in the text the field stands: services of .NET say so. */
function placeOf(path: RequestFlaw['path'], text: string): string {
  const at = Math.max(0, text.indexOf(`"${String(path.at(-1))}"`));
  return `Path '${fieldPath(path)}', line 1, position ${at + String(path.at(-1)).length + 3}.`;
}

function typeOf(path: RequestFlaw['path']): string {
  const parent = path.filter((key) => typeof key === 'string').at(-2) ?? '';
  return `${parent.charAt(0).toUpperCase()}${parent.slice(1)}`;
}

/** Resource Manager reads the envelope, the service behind it the properties. */
function refusalFor(flaw: RequestFlaw, { sent: { text } }: AzureCall): Refusal {
  const { at, kind, path, received, expected } = flaw;
  const name = String(path.at(-1));
  const place = placeOf(path, text);
  if (at === 'query') return refusal('InvalidParameter', `The value of query parameter '${name}' is not allowed.`);
  if (kind === 'unknown' && path.length === 1)
    return refusal(
      'InvalidRequestContent',
      `The request content was invalid and could not be deserialized: 'Could not find member '${name}' on object of type 'ResourceDefinition'. ${place}'.`,
    );
  if (kind === 'unknown')
    return refusal('BadRequest', `Could not find member '${name}' on object of type '${typeOf(path)}'. ${place}`);
  if (kind === 'missing' && path.length === 0)
    return refusal('InvalidRequestContent', 'The request content was invalid and could not be deserialized: empty.');
  if (kind === 'missing' && path.length === 1 && name === 'location')
    return refusal('LocationRequired', 'The location property is required for this definition.');
  if (kind === 'missing') return refusal('InvalidParameter', `Required parameter '${name}' is missing (null).`);
  if (kind === 'type') {
    const type = NET_TYPES[String(expected)] ?? typeOf([...path, '']);
    return refusal('BadRequest', `Error converting value ${JSON.stringify(received)} to type '${type}'. ${place}`);
  }
  const allowed = Array.isArray(expected) ? ` Allowed values are '${expected.join(',')}'.` : '';
  return refusal('InvalidParameter', `The value '${received}' of parameter '${name}' is not allowed.${allowed}`);
}

/** RFC 7807, as App Configuration writes it. */
function problemFor({ at, path }: RequestFlaw): Refusal {
  const what = at === 'query' ? 'parameter' : 'property';
  const name = String(path.at(-1));
  return refusal(`Invalid request ${what} '${name}'`, `${name}: The value or the name is not valid.`);
}

/** Throws for the first flaw. Azure ignores an unknown parameter; that is no reason to send one. */
export function checkCall(call: AzureCall): void {
  const method = methodOf(call);
  const body = call.sent.text === '' ? undefined : call.body;
  const [flaw] = check(method, { query: queryOf(call, method), body });
  if (flaw) throw call.service === 'appConfiguration' ? problemFor(flaw) : refusalFor(flaw, call);
}
