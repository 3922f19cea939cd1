// What there is room for, and what Compute Engine says where there is none.

import { isLiving } from './instance.ts';
import type { FakeError } from './operations.ts';
import { MACHINE_TYPES, regionOf } from './seed-data.ts';
import type { ComputeState } from './state.ts';

export interface Demand {
  readonly project: string;
  readonly zone: string;
  readonly machineType: string;
}

function noCapacity({ project, zone }: Demand): FakeError {
  const message = `The zone 'projects/${project}/zones/${zone}' does not have enough resources available to fulfill the request.  Try a different zone, or try again later.`;
  return { code: 'ZONE_RESOURCE_POOL_EXHAUSTED', message };
}

const cpusOf = (machineType: string): number => MACHINE_TYPES.get(machineType) ?? 1;

function usedCpus({ instances, clock }: ComputeState, { project, zone }: Demand): number {
  const nowMs = clock.now();
  let used = 0;
  for (const one of instances)
    if (one.project === project && regionOf(one.zone) === regionOf(zone) && isLiving(one, nowMs))
      used += cpusOf(one.machineType);
  return used;
}

/** Takes room for one machine, or says why there is none. */
export function takeRoom(state: ComputeState, demand: Demand): FakeError | undefined {
  const { zone, machineType } = demand;
  const region = regionOf(zone);
  const limit = state.cpus.get(region);
  if (limit !== undefined && usedCpus(state, demand) + cpusOf(machineType) > limit)
    return { code: 'QUOTA_EXCEEDED', message: `Quota 'CPUS' exceeded.  Limit: ${limit}.0 in region ${region}.` };
  if (state.late > 0) {
    state.late -= 1;
    return noCapacity(demand);
  }
  const key = `${machineType} ${zone}`;
  const left = state.stock.get(key);
  if (left === undefined) return undefined;
  if (left === 0) return noCapacity(demand);
  state.stock.set(key, left - 1);
  return undefined;
}
