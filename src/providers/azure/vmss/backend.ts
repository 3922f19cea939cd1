import { MINUTE_MS } from '#core/clock.ts';
import type { Backend, Context } from '#core/provider.ts';
import { advised } from '../arm/catalogue.ts';
import { armAt } from '../arm/client.ts';
import { openMachines } from '../vm/backend.ts';
import { locationName } from '../vm/config.ts';
import { groupAt } from '../vm/group.ts';
import { priceOf } from '../vm/prices.ts';
import { bodyInSet, formOf, isSpot } from './body.ts';
import type { VmssConfig } from './config.ts';
import { findSet, type ScaleSet } from './scale-set.ts';

// An edited profile counts from the next minute on.
const FRESH_MS = MINUTE_MS;

/** Machines in a flexible scale set: ordinary ones, made by name and put into it. */
export async function openScaleSet(config: VmssConfig, context: Context): Promise<Backend> {
  const arm = armAt(config, context);
  const { resourceGroup, vmssName } = config;
  const group = groupAt(arm, resourceGroup, context);
  const setNow = (signal: AbortSignal, holdsMs = FRESH_MS): Promise<ScaleSet> =>
    arm.keep(`set ${group.cloud} ${vmssName}`, holdsMs, () => findSet(group, vmssName, signal));
  const saleOf = ({ sku, location }: ScaleSet) => ({ vmSize: sku?.name ?? '', location: locationName(location) });
  const machines = openMachines(group, {
    async bodies(launch, signal) {
      const set = await setNow(signal);
      return (name) => bodyInSet(config, launch, { name, set });
    },
    advise: (fault, signal) =>
      setNow(signal)
        .then((set) => advised(arm, fault, saleOf(set), signal))
        // Where the set itself is refused, that is what to say.
        .catch(() => fault),
  });
  return {
    ...machines,
    form: async (signal) => formOf(await setNow(signal, 0)),
    async pricePerHour(signal) {
      const set = await setNow(signal);
      return priceOf(arm, { ...saleOf(set), isSpot: isSpot(set) }, { context, signal });
    },
  };
}
