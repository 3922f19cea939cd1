// What a build leaves where it was killed: its machine, which has labels, and the disk of that, which has its name.
import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { BuildMark } from '#core/image-builder.ts';
import { readMarkName } from '#packer/marks.ts';
import { type Instance, lastPart, type Operation } from '../compute/api.ts';
import type { Compute } from '../compute/client.ts';
import { followed } from '../compute/operation.ts';
import { instancesIn } from '../instance/listing.ts';
import { LABELS } from './source.ts';

interface Disk {
  readonly name: string;
  readonly zone?: string;
}

interface DiskPage {
  readonly items?: Readonly<Record<string, { readonly disks?: readonly Disk[] }>>;
}

const WITHIN_MS = 4 * MINUTE_MS;

/** Deletes it, and waits until that is done: a disk cannot go before its machine. */
async function remove(compute: Compute, zone: string, what: string, signal: AbortSignal): Promise<void> {
  const place = `zones/${zone}`;
  try {
    const operation = await compute.ask<Operation>({ method: 'DELETE', path: `/${place}/${what}` }, signal);
    await followed(compute, operation, { place, what: `delete of ${what}`, withinMs: WITHIN_MS }, signal);
  } catch (thrown) {
    if (Fault.from(thrown).kind !== 'missing') throw thrown;
  }
}

/** Removes what builds have left that are over; answers its names. */
export async function cleanUp(
  compute: Compute,
  isOver: (mark: BuildMark) => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const isLeft = (name = ''): boolean => {
    const mark = readMarkName(name);
    return mark !== undefined && isOver(mark);
  };
  const marked = { filter: `labels.${LABELS.build}:*`, maxResults: 500 };
  const instances = await compute.all<Instance>(
    { path: '/aggregated/instances', query: marked, items: instancesIn },
    signal,
  );
  const machines = instances.filter(({ labels }) => isLeft(labels?.[LABELS.build]));
  for (const { name, zone } of machines) await remove(compute, lastPart(zone), `instances/${name}`, signal);
  const named = { filter: 'name eq "muster-image-.*"', maxResults: 500 };
  const items = ({ items: scopes = {} }: DiskPage) => Object.values(scopes).flatMap(({ disks = [] }) => disks);
  const all = await compute.all<Disk>({ path: '/aggregated/disks', query: named, items }, signal);
  const disks = all.filter(({ name }) => isLeft(name));
  for (const { name, zone = '' } of disks) await remove(compute, lastPart(zone), `disks/${name}`, signal);
  return [...new Set([...machines, ...disks].map(({ name }) => name))];
}
