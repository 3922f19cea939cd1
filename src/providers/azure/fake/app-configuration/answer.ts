// The key-values of App Configuration: learn.microsoft.com/azure/azure-app-configuration/rest-api-key-value.
import { hash } from 'node:crypto';
import { refusal } from '#fakes/refusal.ts';
import { checkCall } from '../check-call.ts';
import type { AzureCall } from '../read-call.ts';
import { type World, whose } from '../world.ts';
import { matcherOf } from './filter.ts';
import { isSignedBy } from './signature.ts';
import type { FakeKeyValue, FakeStore } from './store.ts';

/** What a token for App Configuration is for. */
const AUDIENCES = ['https://appconfig.azure.com', 'https://azconfig.io'];
const VERSIONS = /^(1\.0|\d{4}-\d{2}-\d{2}(-preview)?)$/;
const LARGEST_PAGE = 100;

const KV = 'application/vnd.microsoft.appconfig.kv+json; charset=utf-8';
const KV_SET = 'application/vnd.microsoft.appconfig.kvset+json; charset=utf-8';

function storeOf({ host }: AzureCall, world: World): FakeStore {
  const store = world.stores.get(host.split('.')[0] ?? '');
  if (!store) throw refusal('Not Found', `There is no store at ${host}.`, 404);
  return store;
}

function checkCaller(call: AzureCall, store: FakeStore, world: World): void {
  const authorization = call.headers.get('authorization') ?? '';
  const token = /^Bearer (.+)$/.exec(authorization)?.[1];
  const isKnown =
    world.isOpen ||
    (token === undefined
      ? isSignedBy(call, store.accessKeys)
      : AUDIENCES.some((audience) => whose(world, token, audience) !== undefined));
  if (!isKnown) throw refusal('Unauthorized', 'The credential is missing, unknown or expired.', 401);
  const right = call.action.endsWith('List') || call.action.endsWith('Get') ? 'read' : 'write';
  if (world.denied.has(`Microsoft.AppConfiguration/configurationStores/keyValues/${right}`))
    throw refusal('Forbidden', `The caller may not ${right} key-values.`, 403);
}

const quoted = (etag: string): string => `"${etag}"`;
const isNamed = (header: string | null, etag: string): boolean => header === '*' || header === quoted(etag);

/** Of a page: another as soon as anything on it is another. */
const etagOf = (items: readonly FakeKeyValue[]): string =>
  hash('sha256', items.map(({ etag }) => etag).join(), 'base64url');

function syncTokenOf(store: FakeStore): string {
  return `zAJw6V16=${Buffer.from(`0:${store.state}`).toString('base64')};sn=${store.state}`;
}

function list({ params, path, headers }: AzureCall, store: FakeStore, world: World): Response {
  const isAsked = matcherOf(params);
  const after = params.after === undefined ? '' : Buffer.from(params.after, 'base64url').toString();
  const rest = store.all().filter((item) => isAsked(item) && `${item.key}\0${item.label ?? ''}` > after);
  const size = Math.min(LARGEST_PAGE, world.largestPage);
  const items = rest.slice(0, size);
  const last = items.at(-1);
  const etag = etagOf(items);
  const answer = new Headers({ 'content-type': KV_SET, etag: quoted(etag), 'sync-token': syncTokenOf(store) });
  let next: string | undefined;
  if (last && rest.length > size) {
    const token = Buffer.from(`${last.key}\0${last.label ?? ''}`).toString('base64url');
    next = `${path}?${new URLSearchParams({ ...params, after: token })}`;
    answer.set('link', `<${next}>; rel="next"`);
  }
  if (headers.get('if-none-match') === answer.get('etag')) return new Response(null, { status: 304, headers: answer });
  return new Response(JSON.stringify({ items, etag, ...(next && { '@nextLink': next }) }), { headers: answer });
}

function shown(item: FakeKeyValue | undefined, store: FakeStore): Response {
  if (!item) return new Response(null, { status: 204, headers: { 'sync-token': syncTokenOf(store) } });
  const headers = { 'content-type': KV, etag: quoted(item.etag), 'sync-token': syncTokenOf(store) };
  return new Response(JSON.stringify(item), { headers });
}

function one(call: AzureCall, store: FakeStore): Response {
  const { params, path, headers, body, action } = call;
  const key = decodeURIComponent(path.replace(/^\/kv\//, ''));
  const label = params.label === undefined || params.label === '\0' ? null : params.label;
  const item = store.get(key, label);
  const [match, noneMatch] = [headers.get('if-match'), headers.get('if-none-match')];
  if ((match && !(item && isNamed(match, item.etag))) || (noneMatch && item && isNamed(noneMatch, item.etag))) {
    if (action.endsWith('Get') && item) return new Response(null, { status: 304 });
    throw refusal('Precondition Failed', 'The condition of the request does not hold.', 412);
  }
  if (action.endsWith('Put')) {
    const { value = '', content_type: contentType, tags } = body as Partial<FakeKeyValue>;
    return shown(store.put(key, value ?? '', { label, contentType, tags }), store);
  }
  if (action.endsWith('Delete')) return shown(store.remove(key, label), store);
  if (!item) throw refusal('Not Found', `There is no ${key}.`, 404);
  return shown(item, store);
}

export function answerAppConfiguration(call: AzureCall, world: World): Response {
  if (!VERSIONS.test(call.params['api-version'] ?? ''))
    throw refusal('API version is not specified', 'An API version is required.', 400);
  const store = storeOf(call, world);
  checkCaller(call, store, world);
  checkCall(call);
  return call.action.endsWith('List') ? list(call, store, world) : one(call, store);
}
