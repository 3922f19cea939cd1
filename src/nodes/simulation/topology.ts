// Demands of a pod on the pods around it: required affinity, required anti-affinity, spread that may not be broken.
import { type PodClass, type PodTerm, type SpreadRule, tolerates } from './pod-class.ts';
import { admits, type PodRoom } from './room.ts';
import { type LabelRules, selects } from './selectors.ts';

/** The pods of all rooms by where they are, kept up to date while pods are placed. */
export interface Topology {
  /** Whether any rule about neighbours can keep such a pod from any room. */
  concerns(pod: PodClass): boolean;
  /** Whether the rules of the pod, and those of the pods that are there, let it in. */
  lets(room: PodRoom, pod: PodClass): boolean;
  /** One more pod of that class is in the room, or one fewer. */
  changed(room: PodRoom, pod: PodClass, by: 1 | -1): void;
  /** A room came to be; `closed`: it did not, as the last one that was opened. */
  opened(room: PodRoom): void;
  closed(room: PodRoom): void;
}

/** How many pods of one kind each domain of a key holds. */
interface Tally {
  readonly topologyKey: string;
  isCounted(pod: PodClass): boolean;
  isDomain(room: PodRoom): boolean;
  readonly counts: Map<string, number>;
  least: number | undefined;
}

const selectedBy = ({ selector, namespaces }: PodTerm, pod: Pick<PodClass, 'namespace' | 'labels'>): boolean =>
  (namespaces === undefined || namespaces.includes(pod.namespace)) && selects(selector, pod.labels);

const selectsOwn = (selector: LabelRules | undefined, pod: PodClass, other: PodClass): boolean =>
  other.namespace === pod.namespace && selects(selector, other.labels);

const everywhere = (): boolean => true;

export function openTopology(rooms: readonly PodRoom[]): Topology {
  const all = [...rooms];
  const tallies = new Map<string, Tally>();
  /** The classes of pods that are somewhere and want others away. */
  const repelling = new Set<PodClass>();
  for (const { pods } of all) for (const pod of pods.keys()) if (pod.antiAffinity.length > 0) repelling.add(pod);

  function enter(tally: Tally, room: PodRoom): void {
    const domain = room.labels[tally.topologyKey];
    if (domain === undefined || !tally.isDomain(room)) return;
    let sum = tally.counts.get(domain) ?? 0;
    for (const [pod, many] of room.pods) if (tally.isCounted(pod)) sum += many;
    tally.counts.set(domain, sum);
    tally.least = undefined;
  }

  function tallyOf(key: string, of: Pick<Tally, 'topologyKey' | 'isCounted' | 'isDomain'>): Tally {
    const known = tallies.get(key);
    if (known) return known;
    const made: Tally = { ...of, counts: new Map(), least: undefined };
    for (const room of all) enter(made, room);
    tallies.set(key, made);
    return made;
  }

  const around = (term: PodTerm): Tally =>
    tallyOf(`term ${JSON.stringify(term)}`, {
      topologyKey: term.topologyKey,
      isCounted: (pod) => selectedBy(term, pod),
      isDomain: everywhere,
    });

  const ofClass = (owner: PodClass, topologyKey: string): Tally =>
    tallyOf(`class ${topologyKey} ${owner.key}`, {
      topologyKey,
      isCounted: (pod) => pod === owner,
      isDomain: everywhere,
    });

  /** As the scheduler does it: a node without one of the keys is no domain of any rule. */
  const spreadTally = (rule: SpreadRule, pod: PodClass): Tally =>
    tallyOf(`spread ${JSON.stringify(rule)} ${pod.key}`, {
      topologyKey: rule.topologyKey,
      isCounted: (other) => selectsOwn(rule.selector, pod, other),
      isDomain: (room) =>
        pod.spread.every(({ topologyKey }) => room.labels[topologyKey] !== undefined) &&
        (!rule.honorsAffinity || admits({ ...room, taints: [] }, pod)) &&
        (!rule.honorsTaints || tolerates(pod, room.taints)),
    });

  const countIn = ({ topologyKey, counts }: Tally, { labels }: PodRoom): number =>
    counts.get(labels[topologyKey] ?? '') ?? 0;

  /** The scheduler counts only pods that all terms select. */
  const drawing = (terms: readonly PodTerm[], topologyKey: string): Tally =>
    tallyOf(`terms ${topologyKey} ${JSON.stringify(terms)}`, {
      topologyKey,
      isCounted: (pod) => terms.every((term) => selectedBy(term, pod)),
      isDomain: everywhere,
    });

  function isDrawn(room: PodRoom, { affinity, ...pod }: PodClass): boolean {
    if (affinity.some(({ topologyKey }) => room.labels[topologyKey] === undefined)) return false;
    const tallies = affinity.map(({ topologyKey }) => drawing(affinity, topologyKey));
    if (tallies.every((tally) => countIn(tally, room) > 0)) return true;
    // The first of a group that wants to be together may be anywhere.
    const isFirst = tallies.every(({ counts }) => [...counts.values()].every((many) => many === 0));
    return isFirst && affinity.every((term) => selectedBy(term, pod));
  }

  function isRepelled(room: PodRoom, pod: PodClass): boolean {
    if (pod.antiAffinity.some((term) => countIn(around(term), room) > 0)) return true;
    for (const owner of repelling) {
      for (const term of owner.antiAffinity)
        if (selectedBy(term, pod) && countIn(ofClass(owner, term.topologyKey), room) > 0) return true;
    }
    return false;
  }

  function isSpread(room: PodRoom, pod: PodClass, rule: SpreadRule): boolean {
    const tally = spreadTally(rule, pod);
    if (!tally.counts.has(room.labels[rule.topologyKey] ?? '')) return false;
    tally.least ??= tally.counts.size < rule.minDomains ? 0 : smallest(tally.counts.values());
    return countIn(tally, room) + (tally.isCounted(pod) ? 1 : 0) - tally.least <= rule.maxSkew;
  }

  return {
    concerns: ({ affinity, antiAffinity, spread }) =>
      affinity.length + antiAffinity.length + spread.length + repelling.size > 0,
    lets: (room, pod) =>
      isDrawn(room, pod) && !isRepelled(room, pod) && pod.spread.every((rule) => isSpread(room, pod, rule)),
    changed(room, pod, by) {
      if (pod.antiAffinity.length > 0) repelling.add(pod);
      for (const tally of tallies.values()) {
        const domain = room.labels[tally.topologyKey];
        if (domain === undefined || !tally.isCounted(pod) || !tally.isDomain(room)) continue;
        tally.counts.set(domain, (tally.counts.get(domain) ?? 0) + by);
        tally.least = undefined;
      }
    },
    opened(room) {
      all.push(room);
      for (const tally of tallies.values()) enter(tally, room);
    },
    closed(room) {
      all.splice(all.lastIndexOf(room), 1);
      tallies.clear();
    },
  };
}

function smallest(counts: Iterable<number>): number {
  let least = Number.POSITIVE_INFINITY;
  for (const count of counts) least = Math.min(least, count);
  return least;
}
