// Runtimes as objects of a cluster: rendered from templates, applied by server-side apply, found again by their labels.
import { stringify } from 'yaml';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import type { RuntimeHost, RuntimeObservation, RuntimeRequest } from '#core/runtime-host.ts';
import type { KubeObject } from '#kube/object.ts';
import { clusterOf } from '../cluster.ts';
import { type Grown, growClaims, makeWay, type StuckClaims, withExistingStorage } from './claims.ts';
import type { RuntimeConfig } from './config.ts';
import { openDrift } from './drift.ts';
import { CLAIMS, DIGEST, REMOVED, runtimeOfLabels, STATEFUL_SETS, selectorOfRuntime } from './names.ts';
import { openRendering, type RuntimeObject, type RuntimeObjects } from './objects.ts';
import { ping } from './ping.ts';
import { applyOrRemake } from './remake.ts';
import { openTemplates } from './templates.ts';
import { podTrouble, rolloutWaitsFor } from './workload.ts';

export async function openRuntimeHost(config: RuntimeConfig, context: Context): Promise<RuntimeHost> {
  const { cluster } = context;
  const { namespace, kubeconfigPath } = config;
  const place = kubeconfigPath ? { kubeconfig: { path: kubeconfigPath } } : { in_cluster: {} };
  const { access, kube } = await clusterOf(context, place);
  const rendered = openRendering(config, { templates: openTemplates(config), cluster });
  const drift = openDrift(kube);
  /** By runtime, as the last apply has found. */
  const stuckClaims = new Map<string, StuckClaims>();

  const claimsOf = (id: string, signal: AbortSignal): Promise<readonly KubeObject[]> =>
    kube.list(CLAIMS, { namespace, labelSelector: selectorOfRuntime(cluster, id) }, signal);

  async function liveSetOf(request: RuntimeRequest, signal: AbortSignal): Promise<KubeObject | undefined> {
    const set = rendered(request).objects.find(({ template }) => template === 'statefulset');
    return set && kube.get(STATEFUL_SETS, { namespace, name: set.object.metadata.name }, signal);
  }

  /** The objects as they are applied: no claim shrinks, and none grows that cannot. */
  function wantedOf(request: RuntimeRequest, claims: readonly KubeObject[]): Wanted {
    const { digest, grant, objects } = rendered(request);
    const stuck = stuckClaims.get(request.id) ?? new Map();
    const sized = objects.map((one) => ({ ...one, ...withExistingStorage(one.object, claims, stuck) }));
    const asked = stuck.size > 0 ? 0 : grant.storageBytes;
    const storageBytes = Math.max(asked, ...sized.map(({ bytes }) => bytes));
    return { digest, grant: { ...grant, storageBytes }, objects: sized };
  }

  async function livingOf(id: string, signal: AbortSignal): Promise<readonly KubeObject[]> {
    const query = { namespace, labelSelector: selectorOfRuntime(cluster, id) };
    const lists = await Promise.all(REMOVED.map((resource) => kube.list(resource, query, signal)));
    // Lists leave the kind out of their items.
    return lists.flatMap((items, at) => items.map((item) => ({ ...item, kind: REMOVED[at]?.kind })));
  }

  async function remove(id: string, keepsData: boolean, signal: AbortSignal): Promise<void> {
    const query = { namespace, labelSelector: selectorOfRuntime(cluster, id) };
    for (const resource of REMOVED) {
      if (keepsData && resource === CLAIMS) continue;
      for (const { metadata } of await kube.list(resource, query, signal)) {
        const { name, uid } = metadata;
        const gone = { namespace, name, uid, propagationPolicy: 'Background' } as const;
        // Another object may have taken its name since it was listed.
        await kube.delete(resource, gone, signal).catch((thrown) => {
          if (Fault.from(thrown).kind !== 'stale') throw thrown;
        });
      }
    }
  }

  const liveOf = (living: readonly KubeObject[], { resource, object }: RuntimeObject): KubeObject | undefined =>
    living.find(({ kind, metadata }) => kind === resource.kind && metadata.name === object.metadata.name);

  /** What the rollout or the ping waits for; undefined: it is ready. */
  async function waitsFor(living: readonly KubeObject[], wanted: Wanted, signal: AbortSignal) {
    const workload = wanted.objects.find(({ template }) => template === 'statefulset' || template === 'deployment');
    const live = workload && liveOf(living, workload);
    const waits = live && rolloutWaitsFor(live);
    if (waits) return (await podTrouble(kube, live, signal)) ?? waits;
    return ping(context, wanted.grant.host, signal);
  }

  /** The first object that is missing, or is neither what the templates give nor what former ones gave. */
  function outdated(
    living: readonly KubeObject[],
    { digest, objects }: Wanted,
    former: string | undefined,
  ): string | undefined {
    for (const one of objects) {
      const live = liveOf(living, one);
      if (!live) return `${nameOf(one)} is missing.`;
      const has = live.metadata.annotations?.[DIGEST];
      if (has === undefined || (has !== digest && has !== former))
        return `${nameOf(one)} is not what the templates give.`;
    }
    return undefined;
  }

  function troubleOf(id: string): Pick<RuntimeObservation, 'trouble'> {
    const [trouble] = stuckClaims.get(id)?.values() ?? [];
    return trouble === undefined ? {} : { trouble };
  }

  async function observe(request: RuntimeRequest, signal: AbortSignal, former?: string): Promise<RuntimeObservation> {
    const living = await livingOf(request.id, signal);
    const bare = withoutWorkload(living);
    if (bare) return bare;
    const wanted = wantedOf(request, living.filter(isClaim));
    const { digest } = wanted;
    const old = outdated(living, wanted, former);
    if (old !== undefined) return { state: 'drifted', why: old, digest };
    const pairs = wanted.objects.flatMap((one) => {
      const live = liveOf(living, one);
      // What former templates gave cannot be compared any more.
      return live?.metadata.annotations?.[DIGEST] === digest ? [{ ...one, live }] : [];
    });
    // Before anything waits: what others changed may be why it does not come up.
    const changed = await drift.changedByOthers(request.id, pairs, signal);
    if (changed) return { state: 'drifted', why: `${nameOf(changed)} was changed by others.`, digest };
    const waits = await waitsFor(living, wanted, signal);
    if (waits !== undefined) return { state: 'coming', why: waits, digest };
    return { state: 'ready', digest, ...troubleOf(request.id) };
  }

  return {
    cloud: `kubernetes:${access.id}/${namespace}`,
    account: `kubernetes:${access.id}`,
    readyWithinMs: config.timeoutSeconds * 1_000,
    async render(request) {
      const { digest, templates, grant, objects } = rendered(request);
      const manifests = objects.map(({ template, resource, object }) => ({
        template,
        kind: resource.kind,
        name: object.metadata.name,
        // Every pass renders for the digest; few read the text.
        get text() {
          return stringify(object);
        },
      }));
      return { digest, templates, grant, manifests };
    },
    async apply(request, signal) {
      // What exists is read at once: a caller waits for all calls that come one after the other.
      const [claims, set] = await Promise.all([claimsOf(request.id, signal), liveSetOf(request, signal)]);
      stuckClaims.delete(request.id);
      const growing = wantedOf(request, claims).objects.flatMap(({ grow }) => grow);
      const stuck = await growClaims(kube, growing, signal);
      if (stuck.size > 0) stuckClaims.set(request.id, stuck);
      const { digest, grant, objects } = wantedOf(request, claims);
      const applyOne = async (one: Wanted['objects'][number]): Promise<void> => {
        await makeWay(kube, set, one.object, signal);
        drift.isApplied(request.id, one.object, await applyOrRemake(kube, one, set, signal));
      };
      // Kinds come in their order; the ingresses lead to the service, and not to each other.
      for (const alike of Map.groupBy(objects, ({ resource }) => resource).values()) {
        const ends = await Promise.allSettled(alike.map(applyOne));
        for (const end of ends) if (end.status === 'rejected') throw end.reason;
      }
      return { digest, grant };
    },
    observe,
    release(id, signal) {
      drift.forget(id);
      stuckClaims.delete(id);
      return remove(id, false, signal);
    },
    hibernate: (id, signal) => remove(id, true, signal),
    async list(signal) {
      const query = { namespace, labelSelector: selectorOfRuntime(cluster, true) };
      const lists = await Promise.all(REMOVED.map((resource) => kube.list(resource, query, signal)));
      return [...new Set(lists.flat().flatMap(({ metadata }) => runtimeOfLabels(metadata.labels) ?? []))];
    },
  };
}

type Wanted = Pick<RuntimeObjects, 'digest' | 'grant'> & { readonly objects: readonly (RuntimeObject & Grown)[] };

const isClaim = ({ kind }: KubeObject): boolean => kind === CLAIMS.kind;
const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

/** How it looks where nothing, or only its claims are there, or something is being deleted. A claim in use stays for long. */
function withoutWorkload(living: readonly KubeObject[]): RuntimeObservation | undefined {
  if (living.length === 0) return { state: 'absent' };
  const isBare = living.every(isClaim);
  const going = living.find((one) => isGoing(one) && (isBare || !isClaim(one)));
  if (going) return { state: 'coming', why: sayGoing(going) };
  return isBare ? { state: 'hibernated' } : undefined;
}

/** What keeps an object that is being deleted, where it says so. */
function sayGoing({ kind, metadata: { name, finalizers = [] } }: KubeObject): string {
  const going = `${kind} ${name} is being deleted`;
  if (finalizers.length === 0) return `${going}.`;
  return `${going}; it waits for its finalizer${finalizers.length === 1 ? '' : 's'} ${finalizers.join(', ')}.`;
}

const nameOf = ({ resource, object }: RuntimeObject): string => `${resource.kind} ${object.metadata.name}`;
