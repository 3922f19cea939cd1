import type { WireCall } from '#fakes/failure-rules.ts';
import { refusal } from '#fakes/refusal.ts';

/** A request to the fake Mithril. */
export interface MithrilCall extends WireCall {
  readonly path: string;
  /** The fid in the path. */
  readonly subject: string;
  readonly query: Readonly<Record<string, string>>;
  readonly token: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const ROUTES: readonly (readonly [method: string, path: RegExp, action: string])[] = [
  ['GET', /^\/v2\/instance-types$/, 'types'],
  ['GET', /^\/v2\/spot\/availability$/, 'availability'],
  ['GET', /^\/v2\/pricing\/current$/, 'price'],
  ['GET', /^\/v2\/me$/, 'me'],
  ['GET', /^\/v2\/me\/teammates$/, 'teammates'],
  ['GET', /^\/v2\/projects$/, 'projects'],
  ['GET', /^\/v2\/ssh-keys$/, 'sshKeys'],
  ['GET', /^\/v2\/instances$/, 'instances'],
  ['GET', /^\/v2\/spot\/bids$/, 'list'],
  ['POST', /^\/v2\/spot\/bids$/, 'create'],
  ['GET', /^\/v2\/spot\/bids\/(bid_\w+)$/, 'get'],
  ['PATCH', /^\/v2\/spot\/bids\/(bid_\w+)$/, 'update'],
  ['DELETE', /^\/v2\/spot\/bids\/(bid_\w+)$/, 'delete'],
];

/** What it knows, by the names of its definition. */
export const ACTIONS: readonly string[] = ROUTES.map(([, , action]) => action);

function parsed(text: string): Record<string, unknown> {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    throw refusal('bad_request', 'There was an error parsing the body', 400);
  }
}

export async function readCall(request: Request): Promise<MithrilCall> {
  const { pathname: path, searchParams } = new URL(request.url);
  const route = ROUTES.find(([method, pattern]) => method === request.method && pattern.test(path));
  return {
    service: 'api',
    region: '',
    action: route?.[2] ?? 'unknown',
    path,
    subject: route?.[1].exec(path)?.[1] ?? '',
    query: Object.fromEntries(searchParams),
    token: /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? '',
    body: parsed(await request.text()),
  };
}
