// The paths of the API server that are about no object: health, version, discovery, schemas.

import { jsonResponse } from '../wire/form.ts';
import type { KubeCall } from '../wire/read-call.ts';
import { refuse } from '../wire/status.ts';
import { AGGREGATED, aggregated, groupAnswer, groupList, resourceList } from './discovery.ts';
import { openapiDocument, openapiIndex, openapiV2 } from './openapi.ts';
import type { Registry } from './registry.ts';

const VERSION = {
  major: '1',
  minor: '32',
  gitVersion: 'v1.32.4',
  gitCommit: 'simulated',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: 'go1.23.6',
  compiler: 'gc',
  platform: 'linux/amd64',
};

const wantsAggregated = (accept: string): boolean =>
  /g=apidiscovery\.k8s\.io;v=v2;as=APIGroupDiscoveryList/.test(accept);

const asJson = (value: object): Response => jsonResponse(JSON.stringify(value));

function discover(registry: Registry, parts: readonly string[], accept: string): object | undefined {
  const all = registry.all();
  const [root, group = '', version = ''] = parts;
  if (root === 'api') {
    if (parts.length === 1) return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
    return resourceList(all, '', group);
  }
  if (parts.length === 1) return groupList(all);
  if (parts.length === 2) return groupAnswer(all, group);
  return accept === '' ? undefined : resourceList(all, group, version);
}

const HEALTH = new Set(['readyz', 'livez', 'healthz']);

export const unknownPath = (): Error =>
  refuse('NotFound', 'the server could not find the requested resource', { details: {} });

function answerOpenapi(registry: Registry, [version, ...rest]: readonly string[]): Response {
  if (version === 'v2') return openapiV2();
  const all = registry.all();
  const found = rest.length === 0 ? openapiIndex(all) : openapiDocument(all, rest.join('/'));
  if (version !== 'v3' || !found) throw unknownPath();
  return asJson(found);
}

export function answerPlainPath({ path, headers }: KubeCall, registry: Registry): Response {
  const parts = path.split('/').filter(Boolean);
  const accept = headers.get('accept') ?? '*/*';
  const [root = ''] = parts;
  if (HEALTH.has(root)) return new Response('ok', { headers: { 'content-type': 'text/plain; charset=utf-8' } });
  if (root === 'version') return asJson(VERSION);
  if (root === 'openapi') return answerOpenapi(registry, parts.slice(1));
  if (root !== 'api' && root !== 'apis') throw unknownPath();
  if (parts.length === 1 && wantsAggregated(accept)) {
    const text = JSON.stringify(aggregated(registry.all(), root === 'api'));
    return jsonResponse(text, 200, { 'content-type': AGGREGATED });
  }
  const found = discover(registry, parts, accept);
  if (!found) throw unknownPath();
  return asJson(found);
}
