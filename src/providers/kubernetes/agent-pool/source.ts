// AgentPool objects as pool documents: read by watch, answered by status, kept by a finalizer until they are drained.
import { Fault } from '#core/fault.ts';
import type { Context, Document, Source } from '#core/provider.ts';
import type { DocumentReport } from '#core/source.ts';
import { writeStatus } from '#kube/apply.ts';
import { isObjectMissing, isResourceUnknown } from '#kube/faults.ts';
import { addFinalizer, removeFinalizer } from '#kube/finalizers.ts';
import { type KubeObject, withoutManagedFields } from '#kube/object.ts';
import { clusterOf } from '../cluster.ts';
import type { SourceConfig } from '../config.ts';
import {
  deletionOf,
  documentOf,
  isThawAsked,
  keyOfPool,
  type Pinned,
  requestsOf,
  THAW,
  versionOfPool,
} from './document.ts';
import { openPoolEvents } from './events.ts';
import { finalizerOf, otherOwnerOf, ourFinalizers, ownerNotes } from './owner.ts';
import { AGENT_POOLS } from './resource.ts';
import { statusOf } from './status.ts';
import { reportForWriter } from './words.ts';

const FRESH_WITHIN_MS = 30_000;

/** The keys of the source that say which cluster it reads: its pools run in no other. */
function pinnedBy({ namespace, ...cluster }: SourceConfig): Pinned {
  return { ...cluster, scope: namespace ? 'namespace' : 'cluster' };
}

export async function openAgentPools(config: SourceConfig, context: Context): Promise<Source> {
  const { kube, follow } = await clusterOf(context, config);
  const { clock, cluster } = context;
  const finalizer = finalizerOf(cluster);
  const query = { namespace: config.namespace || undefined };
  const objects = follow<KubeObject>({ resource: AGENT_POOLS, query, keep: withoutManagedFields });
  const pinned = pinnedBy(config);
  const events = openPoolEvents({ kube, clock });
  /** By uid: let go by us; the watch will say so in a moment. */
  const released = new Set<string>();
  /** By uid: a listing has told of its writer's wish to thaw; the next report follows what was done about it. */
  const thawing = new Set<string>();
  /** By key: the uid of what has been seen with our finalizer. */
  const finalized = new Map<string, string>();
  /** By key: what has not, as last seen. */
  const unfinalized = new Map<string, Document>();
  /** By key: gone before it had our finalizer. Its pool drains as if it had: what a cluster loses, it has had for longer. */
  const deleted = new Map<string, Document>();
  let notes: readonly string[] = [];
  const stop = objects.onChange((key, object) => {
    const last = unfinalized.get(key);
    unfinalized.delete(key);
    if (object) {
      const { uid = '' } = object.metadata;
      deleted.delete(key);
      if (ourFinalizers(object).length > 0) finalized.set(key, uid);
      else if (finalized.get(key) !== uid)
        unfinalized.set(key, { key, version: versionOfPool(object), ...requestsOf(object), isDeleted: true });
      return;
    }
    finalized.delete(key);
    released.clear();
    thawing.clear();
    if (last) deleted.set(key, last);
  });

  function read(object: KubeObject, held: ReadonlyMap<string, string>): Document {
    const key = keyOfPool(object);
    const version = versionOfPool(object);
    return held.get(key) === version ? { key, version, ...requestsOf(object) } : documentOf(object, pinned);
  }

  /** Writes what differs; an object that has gone meanwhile needs nothing any more. */
  async function show(object: KubeObject, report: DocumentReport, signal: AbortSignal): Promise<void> {
    const isOthers = (one: KubeObject): boolean => otherOwnerOf(one, cluster) !== undefined;
    const finalized = await addFinalizer(kube, AGENT_POOLS, object, { name: finalizer, unless: isOthers }, signal);
    if (!finalized || isOthers(finalized)) return;
    const status = statusOf(report, finalized.status, clock.now());
    await writeStatus(kube, AGENT_POOLS, finalized, status, signal);
    await events.warn(finalized, status, signal);
    await events.note(object, report, signal);
    await answerThaw(finalized, report, signal);
  }

  /** An annotation that stayed would thaw a freeze to come. */
  async function answerThaw(object: KubeObject, report: DocumentReport, signal: AbortSignal): Promise<void> {
    const { uid = '', name, namespace } = object.metadata;
    if (!thawing.has(uid) || !isThawAsked(object)) return;
    await kube.patch(
      AGENT_POOLS,
      { name, namespace },
      { merge: { metadata: { uid, annotations: { [THAW]: null } } } },
      signal,
    );
    thawing.delete(uid);
    if (report.frozen?.isFleet) await events.refuseThaw(object, signal);
  }

  async function release(object: KubeObject, signal: AbortSignal): Promise<void> {
    await removeFinalizer(kube, AGENT_POOLS, object, finalizer, signal);
    released.add(object.metadata.uid ?? '');
  }

  return {
    async documents(held, signal) {
      await objects.freshWithin(FRESH_WITHIN_MS, signal).catch((thrown: unknown) => {
        throw isResourceUnknown(thrown) ? crdMissing(thrown) : thrown;
      });
      const present = [...objects.all().values()].filter(({ metadata }) => !released.has(metadata.uid ?? ''));
      const own = present.filter((object) => otherOwnerOf(object, cluster) === undefined);
      notes = own.length === present.length ? [] : ownerNotes(present, cluster);
      for (const object of own) if (isThawAsked(object)) thawing.add(object.metadata.uid ?? '');
      for (const key of deleted.keys()) if (!held.has(key)) deleted.delete(key);
      return [...own.map((object) => read(object, held)), ...deleted.values()];
    },
    notes: () => notes,
    watch(changed, signal) {
      const heard = new Map<string, string>();
      const ended = objects.onChange((key, object) => {
        const wish = object && wishOf(object, cluster);
        if (heard.get(key) === wish && wish !== undefined) return;
        if (wish === undefined) heard.delete(key);
        else heard.set(key, wish);
        changed();
      });
      signal.addEventListener('abort', ended, { once: true });
    },
    async report(key, status, signal) {
      await objects.ready(signal);
      const object = objects.all().get(key);
      if (!object) {
        if (status === 'gone') deleted.delete(key);
        return;
      }
      try {
        if (status !== 'gone') await show(object, reportForWriter(status), signal);
        else await release(object, signal);
      } catch (thrown) {
        if (!isObjectMissing(thrown)) throw thrown;
      }
    },
    async close() {
      stop();
      await objects.close();
    },
  };
}

/** What its writer wants of us, or that another Muster cluster has it. Our own writes change nothing of it: a thousand of them must not mean a thousand listings. */
function wishOf(object: KubeObject, cluster: string): string {
  const { isDeleted, isForced } = deletionOf(object);
  return `${versionOfPool(object)} ${isDeleted === true} ${isForced === true} ${isThawAsked(object)} ${otherOwnerOf(object, cluster) ?? ''}`;
}

function crdMissing(cause: unknown): Fault {
  return new Fault('missing', 'The cluster does not know AgentPools: their CRD is not installed.', {
    remedy: 'Run `muster kube crd | kubectl apply -f -`.',
    cause,
  });
}
