// The way of a request from outside into the cluster: by the host of an Ingress to a ready pod of its Service.
import { fieldsOf, type KubeObject, listOf, textOf } from '../objects/object.ts';
import { conditionOf } from '../pods/status.ts';
import type { World } from '../world.ts';

const INGRESSES = 'networking.k8s.io/ingresses';

interface Rule {
  readonly namespace: string;
  readonly path: string;
  readonly service: string;
}

function rulesFor({ store }: World, host: string): readonly Rule[] {
  return store.list(INGRESSES).flatMap(({ metadata, spec }) =>
    listOf(spec?.rules)
      .map(fieldsOf)
      .filter((rule) => rule.host === host)
      .flatMap((rule) => listOf(fieldsOf(rule.http).paths).map(fieldsOf))
      .map((path) => ({
        namespace: metadata.namespace ?? '',
        path: textOf(path.path),
        service: textOf(fieldsOf(fieldsOf(path.backend).service).name),
      })),
  );
}

function hasReadyPod({ store }: World, { namespace, service }: Rule): boolean {
  const selector = Object.entries(fieldsOf(store.get('/services', namespace, service)?.spec?.selector));
  const isFound = (pod: KubeObject): boolean =>
    selector.length > 0 && selector.every(([key, value]) => pod.metadata.labels?.[key] === value);
  return store.list('/pods', namespace).some((pod) => isFound(pod) && conditionOf(pod, 'Ready')?.status === 'True');
}

/** The answer of what runs there; undefined: no Ingress has that host, so the request is one to the API server. */
export function answerIngress(world: World, request: Request): Response | undefined {
  const url = new URL(request.url);
  const host = (request.headers.get('host') ?? url.host).replace(/:\d+$/, '');
  const rules = rulesFor(world, host);
  if (rules.length === 0) return undefined;
  const rule = rules
    .toSorted((a, b) => b.path.length - a.path.length)
    .find(({ path }) => url.pathname.startsWith(path));
  if (!rule) return new Response('default backend - 404', { status: 404 });
  if (!hasReadyPod(world, rule)) return new Response('503 Service Temporarily Unavailable', { status: 503 });
  return url.pathname === '/v1/ping' ? Response.json({ version: 'simulated' }) : new Response('', { status: 404 });
}
