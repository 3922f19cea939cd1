// Amounts of resources in whole numbers: `cpu` in thousandths, everything else in whole units.
import { quantityOf } from '#kube/quantity.ts';
import { asArray, asRecord, asText } from './reading.ts';

/** By the name of the resource. */
export type Amounts = Readonly<Record<string, number>>;

const perUnit = (name: string): number => (name === 'cpu' ? 1_000 : 1);

/** A quantity of 0.1 is not exact in binary, and must not become one thousandth more. */
const EXACT = 1e-6;

function wholeOf(written: unknown, round: (value: number) => number): Amounts {
  return Object.fromEntries(
    Object.entries(asRecord(written)).map(([name, text]) => [name, round((quantityOf(text) ?? 0) * perUnit(name))]),
  );
}

/** What a node has to give; rounded down. */
export const readAllocatable = (written: unknown): Amounts => wholeOf(written, (value) => Math.floor(value + EXACT));

/** What somebody asks for; rounded up. */
const readAsked = (written: unknown): Amounts => wholeOf(written, (value) => Math.ceil(value - EXACT));

function plus(some: Amounts, others: Amounts): Amounts {
  const sum: Record<string, number> = { ...some };
  for (const [name, amount] of Object.entries(others)) sum[name] = (sum[name] ?? 0) + amount;
  return sum;
}

function larger(some: Amounts, others: Amounts): Amounts {
  const most: Record<string, number> = { ...some };
  for (const [name, amount] of Object.entries(others)) most[name] = Math.max(most[name] ?? 0, amount);
  return most;
}

function ofContainer(container: unknown): Amounts {
  const { requests, limits } = asRecord(asRecord(container).resources);
  return { ...readAsked(limits), ...readAsked(requests) };
}

/**
 * What a pod asks of its node, as the scheduler counts it (k8s.io/component-helpers/resource: PodRequests): init containers
 * run one after the other beside the sidecars that began before them, and `overhead` comes on top.
 */
export function readRequests(written: unknown): Amounts {
  const spec = asRecord(written);
  let running: Amounts = {};
  for (const container of asArray(spec.containers)) running = plus(running, ofContainer(container));
  let sidecars: Amounts = {};
  let starting: Amounts = {};
  for (const container of asArray(spec.initContainers)) {
    const asked = ofContainer(container);
    if (asText(asRecord(container).restartPolicy) === 'Always') {
      running = plus(running, asked);
      sidecars = plus(sidecars, asked);
      starting = larger(starting, sidecars);
    } else {
      starting = larger(starting, plus(sidecars, asked));
    }
  }
  const ofPod = readAsked(asRecord(spec.resources).requests);
  const whole = { ...larger(running, starting), ...ofPod };
  return { ...plus(whole, readAsked(spec.overhead)), pods: 1 };
}
