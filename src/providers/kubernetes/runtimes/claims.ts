// Storage only grows. Where the cluster refuses that, the claims keep their size and all else is applied. A StatefulSet cannot change its claims, so the claims grow first; then the set is deleted without
// its pods, and applied again with the new size.
import { FAULTS, Fault } from '#core/fault.ts';
import type { Kube } from '#kube/client.ts';
import type { KubeObject } from '#kube/object.ts';
import { quantityOf } from '#kube/quantity.ts';
import { CLAIMS, DIGEST, STATEFUL_SETS } from './names.ts';

interface ClaimSpec {
  readonly resources?: { readonly requests?: Readonly<Record<string, unknown>> };
  readonly [field: string]: unknown;
}

interface SetSpec {
  readonly volumeClaimTemplates?: readonly KubeObject[];
  readonly [field: string]: unknown;
}

const storageOf = ({ spec }: KubeObject): number =>
  quantityOf((spec as ClaimSpec | undefined)?.resources?.requests?.storage) ?? 0;

function withStorage(claim: KubeObject, bytes: number): KubeObject {
  if (storageOf(claim) === bytes) return claim;
  const spec = (claim.spec ?? {}) as ClaimSpec;
  const requests = { ...spec.resources?.requests, storage: String(bytes) };
  return { ...claim, spec: { ...spec, resources: { ...spec.resources, requests } } };
}

/** The workload or claim as it is applied, and the claims that must grow before. */
export interface Grown {
  readonly object: KubeObject;
  readonly grow: readonly { readonly claim: KubeObject; readonly bytes: number }[];
  /** Of the largest claim. */
  readonly bytes: number;
}

/** By uid: claims that could not grow, each with why. */
export type StuckClaims = ReadonlyMap<string, string>;

/** What an object asks for in storage: never less than its claims have already, and no more where those cannot grow. */
export function withExistingStorage(object: KubeObject, claims: readonly KubeObject[], stuck: StuckClaims): Grown {
  if (object.kind === CLAIMS.kind) {
    return grown(
      object,
      claims.filter(({ metadata }) => metadata.name === object.metadata.name),
      stuck,
    );
  }
  const spec = (object.spec ?? {}) as SetSpec;
  const templates = object.kind === STATEFUL_SETS.kind ? (spec.volumeClaimTemplates ?? []) : [];
  if (templates.length === 0) return { object, grow: [], bytes: 0 };
  const each = templates.map((template) => {
    const name = `${template.metadata.name}-${object.metadata.name}-`;
    return grown(
      template,
      claims.filter(({ metadata }) => metadata.name.startsWith(name)),
      stuck,
    );
  });
  return {
    object: { ...object, spec: { ...spec, volumeClaimTemplates: each.map((one) => one.object) } },
    grow: each.flatMap((one) => one.grow),
    bytes: Math.max(...each.map((one) => one.bytes)),
  };
}

function grown(wanted: KubeObject, existing: readonly KubeObject[], stuck: StuckClaims): Grown {
  const has = Math.max(0, ...existing.map(storageOf));
  const bytes = existing.some((claim) => isStuckClaim(claim, stuck)) ? has : Math.max(storageOf(wanted), has);
  const grow = existing.filter((claim) => storageOf(claim) < bytes).map((claim) => ({ claim, bytes }));
  return { object: withStorage(wanted, bytes), grow, bytes };
}

const isStuckClaim = ({ metadata }: KubeObject, stuck: StuckClaims): boolean => stuck.has(metadata.uid ?? '');

const GIB = 2 ** 30;

/** Lets claims grow; answers those that the cluster does not let. */
export async function growClaims(
  kube: Pick<Kube, 'patch'>,
  grow: Grown['grow'],
  signal: AbortSignal,
): Promise<StuckClaims> {
  const stuck = new Map<string, string>();
  for (const { claim, bytes } of grow) {
    const { name, namespace, uid = '' } = claim.metadata;
    const merge = { spec: { resources: { requests: { storage: String(bytes) } } } };
    const refused = await kube.patch(CLAIMS, { name, namespace }, { merge }, signal).then(() => undefined, refusal);
    const size = `${Math.round(bytes / GIB)} GiB`;
    if (refused) stuck.set(uid, `${CLAIMS.kind} ${name} cannot grow to ${size}: ${refused.message}`);
  }
  return stuck;
}

/** A claim is refused to grow for good: its class does not allow it, a quota is used up, rights are missing. */
function refusal(thrown: unknown): Fault {
  const fault = Fault.from(thrown);
  const { retry } = FAULTS[fault.kind];
  if (retry === 'slow' || retry === 'cooldown') return fault;
  throw fault;
}

const claimSizes = ({ spec }: KubeObject): string =>
  ((spec as SetSpec | undefined)?.volumeClaimTemplates ?? [])
    .map((claim) => `${claim.metadata.name} ${storageOf(claim)}`)
    .join(',');

/**
 * A StatefulSet waits for a pod that never becomes ready before it replaces that, also where its template is corrected
 * (kubernetes/kubernetes#67250). Nothing serves there.
 */
function isStuckSet(live: KubeObject, wanted: KubeObject): boolean {
  const { replicas = 0, readyReplicas = 0 } = (live.status ?? {}) as Readonly<Record<string, number>>;
  const isOther = live.metadata.annotations?.[DIGEST] !== wanted.metadata.annotations?.[DIGEST];
  return isOther && replicas > 0 && readyReplicas === 0;
}

/**
 * Deletes a StatefulSet whose claims have another size than the wanted one, without its pods; and one that waits for pods
 * that are not ready, with them.
 */
export async function makeWay(
  kube: Pick<Kube, 'get' | 'delete'>,
  live: KubeObject | undefined,
  wanted: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  if (wanted.kind !== STATEFUL_SETS.kind || !live) return;
  const isStuck = isStuckSet(live, wanted);
  if (!isStuck && claimSizes(live) === claimSizes(wanted)) return;
  const { name, namespace } = wanted.metadata;
  const at = { name, namespace };
  const propagationPolicy = isStuck ? 'Background' : 'Orphan';
  await kube.delete(STATEFUL_SETS, { ...at, uid: live.metadata.uid, propagationPolicy }, signal);
  const left = await kube.get(STATEFUL_SETS, at, signal);
  // The garbage collector lets go of its pods first; what is applied before would be removed along with it.
  if (left?.metadata.uid === live.metadata.uid) {
    const why = isStuck ? 'because none of its pods is ready' : 'so that its claims can grow';
    throw new Fault('unavailable', `StatefulSet ${name} is being replaced, ${why}.`);
  }
}
