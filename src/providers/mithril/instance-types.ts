import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import type { CloudClient } from '#rest/cloud-client.ts';
import type { Availability, InstanceType } from './api.ts';

/** What Mithril sells and where. */
export interface Offered {
  readonly types: readonly InstanceType[];
  readonly availabilities: readonly Availability[];
}

/** Asked at most once an hour. */
export function offeredBy(api: CloudClient, signal: AbortSignal): Promise<Offered> {
  return api.keep('instance types', HOUR_MS, async () => {
    const [types, availabilities] = await Promise.all([
      api.ask<InstanceType[]>({ path: '/instance-types' }, signal),
      api.ask<Availability[]>({ path: '/spot/availability' }, signal),
    ]);
    if (!Array.isArray(types) || !Array.isArray(availabilities))
      throw new Fault('unavailable', `${api.host} answered without a list of instance types.`);
    return { types, availabilities };
  });
}

interface Named {
  readonly instanceType: string;
  readonly region: string;
}

const GPUS = /^(\d+)x([a-z]+\d+[a-z]*)$/i;
const wordsIn = (text: string): string[] => text.toLowerCase().split(/[^a-z0-9]+/);
const letters = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '');

/** By id, by name, or by GPUs: `8xh100` is any type with eight of a kind of H100. */
function matching(types: readonly InstanceType[], written: string): readonly InstanceType[] {
  const exact = types.filter(({ fid, name }) => fid === written || letters(name) === letters(written));
  if (exact.length > 0) return exact;
  const [, gpus, model] = GPUS.exec(written) ?? [];
  if (!model) return [];
  return types.filter(
    ({ num_gpus, gpu_type }) => num_gpus === Number(gpus) && wordsIn(gpu_type ?? '').includes(model.toLowerCase()),
  );
}

const meant = (written: string, known: readonly string[]): string => {
  const near = nearest(written, [...new Set(known)]);
  return near === undefined ? '' : ` Did you mean "${near}"?`;
};

/** The id of a type in a region: one name has another in each. */
export function typeIn({ types, availabilities }: Offered, { instanceType, region }: Named): string {
  const found = matching(types, instanceType);
  if (found.length === 0) {
    const remedy = `Correct instance_type.${meant(
      instanceType,
      types.map(({ name }) => name),
    )}`;
    throw new Fault('invalid', `Mithril has no instance type "${instanceType}".`, { remedy });
  }
  const regions = [...new Set(availabilities.map((one) => one.region))];
  if (!regions.includes(region)) {
    const remedy = `Correct region.${meant(region, regions)}`;
    throw new Fault('invalid', `Mithril has no region "${region}".`, { remedy });
  }
  const here = found.find(({ fid }) =>
    availabilities.some((one) => one.instance_type === fid && one.region === region),
  );
  if (here) return here.fid;
  const where = availabilities.filter(({ instance_type }) => found.some(({ fid }) => fid === instance_type));
  const elsewhere = [...new Set(where.map((one) => one.region))].join(', ') || 'no region';
  throw new Fault('exhausted', `Mithril does not offer ${instanceType} in ${region} now.`, {
    remedy: `Offer another type or region; this type is in ${elsewhere}.`,
  });
}
