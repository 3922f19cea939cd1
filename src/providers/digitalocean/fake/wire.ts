import type { WireCall } from '#fakes/failure-rules.ts';
import { refusal } from '#fakes/refusal.ts';

/** A request to the fake DigitalOcean. */
export interface DropletCall extends WireCall {
  readonly path: string;
  /** What stands in the path: the id of a droplet or action, the name of a tag. */
  readonly subject: string;
  readonly query: Readonly<Record<string, string>>;
  readonly page: number;
  readonly token: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const ROUTES: readonly (readonly [method: string, path: RegExp, action: string])[] = [
  ['GET', /^\/v2\/account$/, 'account'],
  ['GET', /^\/v2\/account\/keys$/, 'keys'],
  ['GET', /^\/v2\/images$/, 'images'],
  ['GET', /^\/v2\/vpcs$/, 'vpcs'],
  ['GET', /^\/v2\/sizes$/, 'sizes'],
  ['GET', /^\/v2\/regions$/, 'regions'],
  ['GET', /^\/v2\/droplets$/, 'list'],
  ['POST', /^\/v2\/droplets$/, 'create'],
  ['DELETE', /^\/v2\/droplets$/, 'deleteByTag'],
  ['GET', /^\/v2\/droplets\/(\d+)$/, 'get'],
  ['DELETE', /^\/v2\/droplets\/(\d+)$/, 'delete'],
  ['GET', /^\/v2\/actions$/, 'actions'],
  ['GET', /^\/v2\/actions\/(\d+)$/, 'action'],
  ['POST', /^\/v2\/tags$/, 'createTag'],
  ['POST', /^\/v2\/tags\/([^/]+)\/resources$/, 'tag'],
];

/** What it knows, by the names of its definition. */
export const ACTIONS: readonly string[] = ROUTES.map(([, , action]) => action);

function parsed(text: string): Record<string, unknown> {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    throw refusal('bad_request', 'The request body is not JSON.', 400);
  }
}

export async function readCall(request: Request): Promise<DropletCall> {
  const { pathname: path, searchParams } = new URL(request.url);
  const route = ROUTES.find(([method, pattern]) => method === request.method && pattern.test(path));
  const query = Object.fromEntries(searchParams);
  return {
    service: 'api',
    region: '',
    action: route?.[2] ?? 'unknown',
    path,
    subject: decodeURIComponent(route?.[1].exec(path)?.[1] ?? ''),
    query,
    page: Number(query.page ?? 1),
    token: /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? '',
    body: parsed(await request.text()),
  };
}
