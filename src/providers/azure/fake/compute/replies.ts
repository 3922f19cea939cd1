// What the answers of Resource Manager have in common: paths, pages, operations under way.
import { refusal } from '#fakes/refusal.ts';
import type { AzureCall } from '../read-call.ts';
import type { World } from '../world.ts';
import type { Compute, FakeOperation } from './compute.ts';

const RETRY_SECONDS = '1';

export const groupIn = (path: string): string => /\/resourceGroups\/([^/]+)/i.exec(path)?.[1] ?? '';
export const lastOf = (path: string): string => decodeURIComponent(path.split('/').at(-1) ?? '');

export function notFound({ path }: AzureCall): Error {
  const what = path.split('/').slice(-3).join('/');
  return refusal(
    'ResourceNotFound',
    `The Resource '${what}' under resource group '${groupIn(path)}' was not found.`,
    404,
  );
}

const originOf = ({ sent }: AzureCall): string =>
  /^127|^localhost/.test(sent.host) ? `http://${sent.host}` : `https://${sent.host}`;

/** Where to ask how far it is. */
export function underWay(call: AzureCall, { subscriptionId }: Compute, { id }: FakeOperation): Record<string, string> {
  const path = `/subscriptions/${subscriptionId}/providers/Microsoft.${/Microsoft\.(\w+)/i.exec(call.path)?.[1]}/locations/westeurope/operations/${id}`;
  const url = `${originOf(call)}${path}?api-version=2026-03-01&t=639011`;
  return { 'azure-asyncoperation': url, location: url, 'retry-after': RETRY_SECONDS };
}

export function paged(call: AzureCall, world: World, items: readonly unknown[]): object {
  const from = Number(call.params.$skiptoken ?? 0);
  const next = from + world.largestPage;
  const value = items.slice(from, next);
  if (next >= items.length) return { value };
  const query = new URLSearchParams({ ...call.params, $skiptoken: String(next) });
  return { value, nextLink: `${originOf(call)}${call.path}?${query}` };
}
