import { Fault } from '#core/fault.ts';
import type { Machine } from '#core/provider.ts';
import type { CloudClient } from '#rest/cloud-client.ts';
import type { Droplet } from '../api.ts';
import { everyPage } from '../client.ts';
import { clusterTag, markOf } from './marks.ts';

const droplets = { path: '/droplets', items: 'droplets' };

/** All droplets of that tag; DigitalOcean may answer that there is no such tag before the first is made. */
async function tagged(api: CloudClient, tag: string, signal: AbortSignal): Promise<readonly Droplet[]> {
  return everyPage<Droplet>(api, { ...droplets, query: { tag_name: tag } }, signal).catch((thrown) => {
    const fault = Fault.from(thrown);
    if (fault.kind === 'missing') return [];
    throw fault;
  });
}

interface Listing {
  readonly cluster: string;
  /** How old a listing will do; absent: a new one. */
  readonly holdsMs?: number;
  readonly signal: AbortSignal;
}

/**
 * All droplets of our cluster, the oldest first. GPU droplets are listed apart, and that listing takes no tag beside
 * `type`: so both are read, and the tags are compared here.
 */
export function listDroplets(api: CloudClient, { cluster, holdsMs = 0, signal }: Listing): Promise<readonly Droplet[]> {
  return api.keep('droplets', holdsMs, async () => {
    const [plain, withGpus] = await Promise.all([
      tagged(api, clusterTag(cluster), signal),
      everyPage<Droplet>(api, { ...droplets, query: { type: 'gpus' } }, signal),
    ]);
    const all = new Map([...plain, ...withGpus].map((droplet) => [droplet.id, droplet]));
    const ours = [...all.values()].filter((droplet) => markOf(droplet)?.cluster === cluster);
    return ours.toSorted((a, b) => a.id - b.id);
  });
}

const STATES: Readonly<Record<Droplet['status'], Machine['state']>> = {
  new: 'creating',
  active: 'running',
  off: 'suspended',
  archive: 'suspended',
};

/** A droplet as the rest of the program sees it. */
export function machineOf(droplet: Droplet): Machine {
  const { id, name, status, created_at, networks = {} } = droplet;
  const addresses = [...(networks.v4 ?? []), ...(networks.v6 ?? [])].map(({ ip_address }) => ip_address);
  return {
    name,
    mark: markOf(droplet),
    id: String(id),
    createdAt: Date.parse(created_at),
    state: STATES[status] ?? 'creating',
    ...(addresses.length > 0 && { addresses }),
  };
}
