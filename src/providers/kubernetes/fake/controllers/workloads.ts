// StatefulSets and Deployments: as many pods as they want, of their current template, and the claims of the former. A
// Deployment owns its pods directly here, and replaces them all at once (Recreate); there are no ReplicaSets in between.
import type { Resource } from '../api/resource.ts';
import { type Fields, fieldsOf, type KubeObject, listOf, textOf } from '../objects/object.ts';
import { nameSuffix } from '../objects/uid.ts';
import { conditionOf } from '../pods/status.ts';
import type { World } from '../world.ts';
import { createFrom } from '../writes/create.ts';
import { removeObject } from '../writes/delete.ts';
import { deploymentConditions, planPods } from './deployment-pods.ts';
import { openOwnedPods } from './owned-pods.ts';

const PODS = '/pods';
const CLAIMS = '/persistentvolumeclaims';
const SETS = 'apps/statefulsets';
const DEPLOYMENTS = 'apps/deployments';
const WORKLOADS = [SETS, DEPLOYMENTS];
const HASH = 'controller-revision-hash';

interface Place {
  readonly storage: string;
  readonly namespace: string;
  readonly name: string;
}

/** Stands for a template: pods of another one are replaced. */
function hashOf(template: unknown): string {
  let hash = 5381;
  for (const letter of JSON.stringify(template ?? null)) hash = (hash * 33 + letter.charCodeAt(0)) >>> 0;
  return hash.toString(36);
}

const isReady = (pod: KubeObject): boolean => conditionOf(pod, 'Ready')?.status === 'True';
const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;
const hasEnded = ({ status }: KubeObject): boolean => ['Succeeded', 'Failed'].includes(textOf(status?.phase));
const labelsOf = (fields: unknown): Fields => fieldsOf(fieldsOf(fieldsOf(fields).metadata).labels);

export function runWorkloadController(world: World): void {
  const { store, registry, clock, behaviour, random } = world;
  const owned = openOwnedPods(store);
  const waiting = new Set<string>();

  const resourceOf = (storage: string): Resource => {
    const slash = storage.lastIndexOf('/');
    return registry.byStorage(storage.slice(0, slash), storage.slice(slash + 1)) as Resource;
  };

  function create(storage: string, namespace: string, written: Fields): void {
    const writer = {
      owner: 'kube-controller',
      operation: 'Update',
      subresource: undefined,
      nowMs: clock.now(),
    } as const;
    const ask = {
      namespace,
      name: undefined,
      subresource: undefined,
      query: new URLSearchParams(),
      headers: new Headers(),
    };
    createFrom(
      { ...ask, world, resource: resourceOf(storage), body: '', isDryRun: false, writer, warnings: [] },
      written,
    );
  }

  const remove = (pod: KubeObject): void =>
    void (
      isGoing(pod) || removeObject(world, resourceOf(PODS), pod, { graceSeconds: undefined, propagation: undefined })
    );

  const ownerOf = ({ apiVersion, kind, metadata: { name, uid } }: KubeObject) => ({
    apiVersion,
    kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  });

  /** Its pods: those that name it as their owner, and orphans that its selector finds, which it takes over. */
  function podsOf(workload: KubeObject): readonly KubeObject[] {
    for (const pod of owned.foundBy(workload)) {
      const metadata = { ...pod.metadata, ownerReferences: [ownerOf(workload)] };
      if (!isGoing(pod)) store.replace(PODS, { ...pod, metadata });
    }
    return owned.of(workload.metadata.uid);
  }

  function makePod(workload: KubeObject, name: string, hash: string, claims: readonly KubeObject[]): void {
    const { namespace = '' } = workload.metadata;
    const template = fieldsOf(workload.spec?.template);
    const spec = fieldsOf(template.spec);
    const volumes = claims.map((claim, at) => ({
      name: textOf(fieldsOf(fieldsOf(listOf(workload.spec?.volumeClaimTemplates)[at]).metadata).name),
      persistentVolumeClaim: { claimName: claim.metadata.name },
    }));
    const labels = { ...labelsOf(template), [HASH]: hash };
    create(PODS, namespace, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...fieldsOf(template.metadata), name, labels, ownerReferences: [ownerOf(workload)] },
      spec: { ...spec, ...(volumes.length > 0 && { volumes: [...listOf(spec.volumes), ...volumes] }) },
    });
  }

  /** The claims of one pod of a StatefulSet, made where they are missing. */
  function claimsOf(set: KubeObject, number: number): readonly KubeObject[] {
    const { name: setName, namespace = '' } = set.metadata;
    return listOf(set.spec?.volumeClaimTemplates).map((one) => {
      const template = fieldsOf(one);
      const metadata = fieldsOf(template.metadata);
      const name = `${textOf(metadata.name)}-${setName}-${number}`;
      if (!store.get(CLAIMS, namespace, name)) {
        const written = {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { ...metadata, name },
          spec: template.spec,
        };
        create(CLAIMS, namespace, written);
      }
      return store.get(CLAIMS, namespace, name) as KubeObject;
    });
  }

  /** Makes the pods that are missing, each with its claims. */
  function fill(set: KubeObject, names: readonly string[], hash: string): void {
    for (const [number, name] of names.entries()) {
      const claims = claimsOf(set, number);
      if (!store.get(PODS, set.metadata.namespace, name)) makePod(set, name, hash, claims);
    }
  }

  function reconcileSet(set: KubeObject, hash: string): void {
    const { name } = set.metadata;
    const names = Array.from({ length: Number(set.spec?.replicas ?? 1) }, (_, number) => `${name}-${number}`);
    const isOld = ({ metadata }: KubeObject): boolean =>
      !names.includes(metadata.name) || metadata.labels?.[HASH] !== hash;
    const old = podsOf(set).filter(isOld);
    for (const pod of old) remove(pod);
    // One pod after the other: the next begins when the old ones are gone.
    if (old.length === 0) fill(set, names, hash);
    writeStatus(SETS, set, hash);
  }

  function reconcileDeployment(deployment: KubeObject, hash: string): void {
    const { name, namespace = '' } = deployment.metadata;
    const isOld = ({ metadata }: KubeObject): boolean => metadata.labels?.[HASH] !== hash;
    const pods = podsOf(deployment);
    // A paused Deployment makes no ReplicaSet for its template, so one that was never anything else has no pods.
    if (deployment.spec?.paused === true && pods.length === 0) return writeStatus(DEPLOYMENTS, deployment, hash);
    const { gone, missing } = planPods(pods, Number(deployment.spec?.replicas ?? 1), isOld);
    for (const pod of gone) remove(pod);
    const refused = missing > 0 ? behaviour.podRefusal : undefined;
    if (refused !== undefined) clock.alarm(behaviour.retryMs, () => soon({ storage: DEPLOYMENTS, namespace, name }));
    else for (let at = 0; at < missing; at++) makePod(deployment, `${name}-${hash}-${nameSuffix(random)}`, hash, []);
    writeStatus(DEPLOYMENTS, deployment, hash, refused);
  }

  function reconcile({ storage, namespace, name }: Place): void {
    const workload = store.get(storage, namespace, name);
    if (!workload || isGoing(workload)) return;
    const hash = hashOf(workload.spec?.template);
    if (storage === SETS) reconcileSet(workload, hash);
    else reconcileDeployment(workload, hash);
  }

  function writeStatus(storage: string, workload: KubeObject, hash: string, refused?: string): void {
    const pods = owned.of(workload.metadata.uid).filter((pod) => !isGoing(pod) && !hasEnded(pod));
    const ready = pods.filter(isReady).length;
    const isDeployment = storage === DEPLOYMENTS;
    const status = {
      observedGeneration: workload.metadata.generation,
      replicas: pods.length,
      readyReplicas: ready,
      availableReplicas: ready,
      updatedReplicas: pods.filter((pod) => pod.metadata.labels?.[HASH] === hash).length,
      ...(isDeployment && { conditions: deploymentConditions(workload, { ready, refused, nowMs: clock.now() }) }),
    };
    if (JSON.stringify(status) !== JSON.stringify(workload.status)) store.replace(storage, { ...workload, status });
  }

  function soon(place: Place): void {
    const key = `${place.storage} ${place.namespace}/${place.name}`;
    if (waiting.has(key)) return;
    waiting.add(key);
    clock.alarm(behaviour.collectMs, () => {
      waiting.delete(key);
      reconcile(place);
    });
  }

  store.watch(({ storage, object: { metadata } }) => {
    const { namespace = '', name, ownerReferences = [] } = metadata;
    if (WORKLOADS.includes(storage)) soon({ storage, namespace, name });
    if (storage !== PODS) return;
    for (const owner of ownerReferences) {
      const kind = owner.kind === 'StatefulSet' ? SETS : DEPLOYMENTS;
      if (store.get(kind, namespace, owner.name)) soon({ storage: kind, namespace, name: owner.name });
    }
  });
}
