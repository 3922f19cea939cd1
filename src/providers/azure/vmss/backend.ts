import { MINUTE_MS } from '#core/clock.ts';
import type { Backend, Context } from '#core/provider.ts';
import { advised, catalogueOf, locationName } from '../arm/catalogue.ts';
import { armAt } from '../arm/client.ts';
import { openMachines } from '../vm/backend.ts';
import { groupAt } from '../vm/group.ts';
import { priceOf } from '../vm/prices.ts';
import { bodyInSet, formOf, isSpot } from './body.ts';
import type { VmssConfig } from './config.ts';
import { findSet, type ScaleSet } from './scale-set.ts';

// A launch of many machines asks once; an edited profile counts from the next minute on.
const FRESH_MS = MINUTE_MS;

/** Machines in a flexible scale set: ordinary ones, made by name and put into it. */
export async function openScaleSet(config: VmssConfig, context: Context): Promise<Backend> {
  const arm = armAt(config, context);
  const catalogue = catalogueOf(arm);
  const { resourceGroup, vmssName } = config;
  const group = groupAt(arm, resourceGroup, context);
  let kept: { readonly set: Promise<ScaleSet>; readonly atMs: number } | undefined;

  /** One question for all who ask at the same time; a refusal is not kept. */
  function setNow(signal: AbortSignal, freshMs = FRESH_MS): Promise<ScaleSet> {
    const nowMs = arm.clock.monotonic();
    if (kept && nowMs - kept.atMs < freshMs) return kept.set;
    const asked = { set: findSet(group, vmssName, signal), atMs: nowMs };
    kept = asked;
    asked.set.catch(() => {
      if (kept === asked) kept = undefined;
    });
    return asked.set;
  }

  const saleOf = ({ sku, location }: ScaleSet) => ({ vmSize: sku?.name ?? '', location: locationName(location) });
  const machines = openMachines(arm, { resourceGroup, context }, () => ({
    bodyFor: async (launch, name, signal) => bodyInSet(config, launch, { name, set: await setNow(signal) }),
    advise: (fault, signal) =>
      setNow(signal)
        .then((set) => advised(fault, saleOf(set), { catalogue, signal }))
        // Where the set itself is refused, that is what to say.
        .catch(() => fault),
  }));
  return {
    ...machines,
    form: async (signal) => formOf(await setNow(signal, 0)),
    async pricePerHour(signal) {
      const set = await setNow(signal);
      return priceOf(arm, { ...saleOf(set), isSpot: isSpot(set) }, { context, signal });
    },
  };
}
