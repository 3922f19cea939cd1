import type { WireCall } from '#fakes/failure-rules.ts';
import { refusal } from '#fakes/refusal.ts';

/** A request to the fake engine. */
export interface EngineCall extends WireCall {
  /** Without the version in front. */
  readonly path: string;
  /** The container or image in the path. */
  readonly subject: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
  /** The content of what is no JSON. */
  readonly bytes: Uint8Array;
}

const ROUTES: readonly (readonly [method: string, path: RegExp, action: string])[] = [
  ['GET', /^\/_ping$/, 'ping'],
  ['HEAD', /^\/_ping$/, 'ping'],
  ['GET', /^\/version$/, 'version'],
  ['GET', /^\/info$/, 'info'],
  ['GET', /^\/events$/, 'events'],
  ['GET', /^\/containers\/json$/, 'list'],
  ['POST', /^\/containers\/create$/, 'create'],
  ['GET', /^\/containers\/([^/]+)\/json$/, 'inspect'],
  ['GET', /^\/containers\/([^/]+)\/logs$/, 'logs'],
  ['HEAD', /^\/containers\/([^/]+)\/archive$/, 'stat'],
  ['PUT', /^\/containers\/([^/]+)\/archive$/, 'put'],
  ['POST', /^\/containers\/([^/]+)\/start$/, 'start'],
  ['POST', /^\/containers\/([^/]+)\/stop$/, 'stop'],
  ['POST', /^\/containers\/([^/]+)\/kill$/, 'kill'],
  ['DELETE', /^\/containers\/([^/]+)$/, 'delete'],
  ['POST', /^\/images\/create$/, 'pull'],
  ['GET', /^\/images\/json$/, 'images'],
  ['GET', /^\/images\/(.+)\/json$/, 'image'],
  ['POST', /^\/build$/, 'build'],
  ['POST', /^\/images\/(.+)\/tag$/, 'tag'],
  ['POST', /^\/images\/(.+)\/push$/, 'push'],
  ['DELETE', /^\/images\/(.+)$/, 'delete image'],
];

function parsed(text: string): Record<string, unknown> {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    throw refusal('invalid', 'invalid JSON', 400);
  }
}

export async function readCall(request: Request): Promise<EngineCall> {
  const { pathname, searchParams } = new URL(request.url);
  const path = pathname.replace(/^\/v\d+\.\d+(?=\/)/, '');
  const route = ROUTES.find(([method, pattern]) => method === request.method && pattern.test(path));
  const bytes = new Uint8Array(await request.arrayBuffer());
  const isJson = request.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    service: 'engine',
    region: '',
    action: route?.[2] ?? 'unknown',
    path,
    subject: decodeURIComponent(route?.[1].exec(path)?.[1] ?? ''),
    query: Object.fromEntries(searchParams),
    headers: request.headers,
    body: isJson ? parsed(new TextDecoder().decode(bytes)) : {},
    bytes,
  };
}
