// One request to a fake Google, from somebody who may do everything.
import { VirtualClock } from '#core/virtual-clock.ts';
import { openFakeGcp } from './fake-gcp.ts';

export const API = 'https://compute.googleapis.com/compute/v1/projects/my-project';
export const ZONE_URL = `${API}/zones/us-central1-a`;
export const IMAGE = 'projects/debian-cloud/global/images/family/debian-12';

const INSTANCE = {
  machineType: 'e2-small',
  disks: [{ boot: true, initializeParams: { sourceImage: IMAGE } }],
  networkInterfaces: [{ network: 'global/networks/default' }],
};

/** A bulkInsert of one instance. */
export const bulkOf = (changes: object, own: object = {}) => ({
  count: 1,
  perInstanceProperties: { 'm-1': {} },
  instanceProperties: { ...INSTANCE, ...changes },
  ...own,
});

const isCreation = (url: string): boolean => /\/(bulkInsert|\w+Instances)(\?|$)/.test(url);

interface GoogleError {
  readonly message: string;
  readonly status?: string;
  readonly errors?: readonly { readonly reason: string }[];
}

/** Status, reason and message; `token` null: no credentials at all. */
export async function ask(
  url: string,
  body?: object,
  token?: string | null,
): Promise<readonly [number, string, string]> {
  const fake = openFakeGcp(new VirtualClock());
  const shown = token === undefined ? fake.world.granted.give('muster') : token;
  const headers = {
    ...(shown !== null && { authorization: `Bearer ${shown}` }),
    ...(body && { 'content-type': 'application/json' }),
  };
  const method = body !== undefined || isCreation(url) ? 'POST' : 'GET';
  const answer = await fake.fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const { error } = (await answer.json()) as { error?: GoogleError };
  return [answer.status, error?.errors?.[0]?.reason ?? error?.status ?? '', error?.message ?? ''];
}
