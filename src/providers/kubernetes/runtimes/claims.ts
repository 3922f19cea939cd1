// Storage only grows. A StatefulSet cannot change its claims, so the claims grow first; then the set is deleted without
// its pods, and applied again with the new size.
import { Fault } from '#core/fault.ts';
import type { Kube } from '#kube/client.ts';
import type { KubeObject } from '#kube/object.ts';
import { quantityOf } from '#kube/quantity.ts';
import { CLAIMS, STATEFUL_SETS } from './names.ts';

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

/** What an object asks for in storage, never less than what its claims have already. */
export function withExistingStorage(object: KubeObject, claims: readonly KubeObject[]): Grown {
  if (object.kind === CLAIMS.kind) {
    return grown(
      object,
      claims.filter(({ metadata }) => metadata.name === object.metadata.name),
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
    );
  });
  return {
    object: { ...object, spec: { ...spec, volumeClaimTemplates: each.map((one) => one.object) } },
    grow: each.flatMap((one) => one.grow),
    bytes: Math.max(...each.map((one) => one.bytes)),
  };
}

function grown(wanted: KubeObject, existing: readonly KubeObject[]): Grown {
  const bytes = Math.max(storageOf(wanted), ...existing.map(storageOf));
  const grow = existing.filter((claim) => storageOf(claim) < bytes).map((claim) => ({ claim, bytes }));
  return { object: withStorage(wanted, bytes), grow, bytes };
}

export async function growClaims(kube: Pick<Kube, 'patch'>, { grow }: Grown, signal: AbortSignal): Promise<void> {
  for (const { claim, bytes } of grow) {
    const { name, namespace } = claim.metadata;
    const merge = { spec: { resources: { requests: { storage: String(bytes) } } } };
    await kube.patch(CLAIMS, { name, namespace }, { merge }, signal);
  }
}

const claimSizes = ({ spec }: KubeObject): string =>
  ((spec as SetSpec | undefined)?.volumeClaimTemplates ?? [])
    .map((claim) => `${claim.metadata.name} ${storageOf(claim)}`)
    .join(',');

/** Deletes a StatefulSet whose claims have another size than the wanted one; its pods go on. */
export async function makeWay(
  kube: Pick<Kube, 'get' | 'delete'>,
  live: KubeObject | undefined,
  wanted: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  if (wanted.kind !== STATEFUL_SETS.kind || !live || claimSizes(live) === claimSizes(wanted)) return;
  const { name, namespace } = wanted.metadata;
  const at = { name, namespace };
  await kube.delete(STATEFUL_SETS, { ...at, uid: live.metadata.uid, propagationPolicy: 'Orphan' }, signal);
  const left = await kube.get(STATEFUL_SETS, at, signal);
  // The garbage collector lets go of its pods first; what is applied before would be removed along with it.
  if (left?.metadata.uid === live.metadata.uid) {
    throw new Fault('unavailable', `StatefulSet ${name} is being replaced, so that its claims can grow.`);
  }
}
