import { refusal } from '#fakes/refusal.ts';
import type { InstanceType, Region } from '../region.ts';
import { type Instance, stateAt } from './instance.ts';

/** The families whose vCPUs AWS counts together; all letters that are not named here are `standard`. */
function familyOf(type: string): string {
  const letters = /^[a-z]+/.exec(type)?.[0] ?? type;
  if (/^(inf|trn|dl|hpc|vt|mac)/.test(letters)) return letters === 'vt' ? 'g' : letters;
  return 'gpfxu'.includes(letters[0] as string) ? (letters[0] as string) : 'standard';
}

/** Stopped ones stand nowhere and count for nothing. */
const counts = (instance: Instance, nowMs: number): boolean =>
  !['stopped', 'terminated'].includes(stateAt(instance, nowMs));

export interface Purchase {
  readonly region: Region;
  readonly type: InstanceType;
  readonly zone: string;
  readonly isSpot: boolean;
  readonly nowMs: number;
}

function living({ region, nowMs }: Purchase): Instance[] {
  return [...region.instances.values()].filter((instance) => counts(instance, nowMs));
}

/** How many more machines of this type the zone has. */
function machinesLeft(purchase: Purchase): number {
  const { region, type, zone } = purchase;
  const limits = [
    { limit: region.stock.machines.get(type.name), isIn: () => true },
    { limit: region.stock.machines.get(`${type.name}@${zone}`), isIn: (one: Instance) => one.zone === zone },
  ];
  return Math.min(
    ...limits.map(({ limit, isIn }) =>
      limit === undefined
        ? Number.POSITIVE_INFINITY
        : limit - living(purchase).filter((one) => one.type === type.name && isIn(one)).length,
    ),
  );
}

/** How many more the account may have. */
function quotaLeft(purchase: Purchase): number {
  const { region, type, isSpot } = purchase;
  const family = familyOf(type.name);
  const limit = region.stock.vcpus.get(isSpot ? `spot:${family}` : family);
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  const used = living(purchase)
    .filter((one) => familyOf(one.type) === family && (one.spotRequest !== undefined) === isSpot)
    .reduce((sum, { vcpus }) => sum + vcpus, 0);
  return Math.floor((limit - used) / type.vcpus);
}

/** As many as can be had up to `most`; refuses where those are fewer than `least`. */
export function take(purchase: Purchase, { least, most }: { least: number; most: number }): number {
  const { type, zone, isSpot } = purchase;
  const allowed = quotaLeft(purchase);
  if (allowed < least) {
    throw isSpot
      ? refusal('MaxSpotInstanceCountExceeded', 'Max spot instance count exceeded')
      : refusal(
          'VcpuLimitExceeded',
          `You have requested more vCPU capacity than your current vCPU limit of ${purchase.region.stock.vcpus.get(familyOf(type.name))} allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.`,
        );
  }
  const left = machinesLeft(purchase);
  if (left < least) {
    throw refusal(
      'InsufficientInstanceCapacity',
      `We currently do not have sufficient ${type.name} capacity in the Availability Zone you requested (${zone}). Our system will be working on provisioning additional capacity.`,
      500,
    );
  }
  return Math.min(most, allowed, left);
}

/** Whether this one is promised and will not come. */
export function isPromiseOnly({ stock }: Region, type: string): boolean {
  const left = stock.late.get(type) ?? 0;
  if (left > 0) stock.late.set(type, left - 1);
  return left > 0;
}
