// Resources of a resource group that we name ourselves, one at a time.
import { Fault } from '#core/fault.ts';
import { finished, type Progress } from '#rest/retry.ts';
import type { Operation } from '../arm/operations.ts';
import { faultOfOperation } from '../azure-fault.ts';
import type { Resource } from './api.ts';
import type { Group } from './group.ts';

/** Where a resource is. */
export interface ResourcePlace {
  /** `Microsoft.Network/virtualNetworks`. */
  readonly type: string;
  readonly name: string;
  readonly apiVersion: string;
}

const REMOVED_WITHIN_MS = 30_000;

export const resourcePath = (
  { path }: Pick<Group, 'path'>,
  { type, name }: Pick<ResourcePlace, 'type' | 'name'>,
): string => `${path}/providers/${type}/${encodeURIComponent(name)}`;

const isMissing = (thrown: unknown): boolean => Fault.from(thrown).kind === 'missing';

/** The resource as it is now; nothing where there is none. */
export async function findResource<T extends Resource>(
  group: Pick<Group, 'arm' | 'path'>,
  place: ResourcePlace,
  signal: AbortSignal,
): Promise<T | undefined> {
  const request = { path: resourcePath(group, place), apiVersion: place.apiVersion };
  return group.arm.ask<T>(request, signal).catch((thrown) => {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  });
}

/** Deletes it, and waits until it is gone: what it refers to can be deleted only then. */
export async function removeResource(group: Group, place: ResourcePlace, signal: AbortSignal): Promise<void> {
  const { arm } = group;
  const { name, apiVersion } = place;
  let operation: string | undefined;
  const heard = (answer: Response): void => {
    operation = answer.headers.get('azure-asyncoperation') ?? undefined;
  };
  await arm.ask({ method: 'DELETE', path: resourcePath(group, place), apiVersion, heard }, signal).catch((thrown) => {
    if (!isMissing(thrown)) throw thrown;
  });
  const url = operation;
  if (url === undefined) return;
  const what = `The deletion of ${name}`;
  const look = async (): Promise<Progress<Operation>> => {
    const now = await arm.askAt<Operation>(url, signal);
    return /^(inprogress|accepted|running|deleting)$/i.test(now.status) ? {} : { done: now };
  };
  const end = await finished({ clock: arm.clock, signal, what, withinMs: REMOVED_WITHIN_MS }, look);
  if (/^(failed|canceled)$/i.test(end.status)) throw faultOfOperation(end.error, what);
}
