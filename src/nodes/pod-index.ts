// Pods by the node that they are on, and those that the scheduler has refused, kept up to date by each change.
import type { PodFact } from './cluster-objects.ts';

export interface PodIndex {
  /** Takes a change, and answers what it concerns. */
  change(key: string, pod: PodFact | undefined): { readonly nodes: ReadonlySet<string>; readonly waits: boolean };
  on(node: string): readonly PodFact[];
  refused(): Iterable<PodFact>;
}

export function openPodIndex(): PodIndex {
  const onNode = new Map<string, Map<string, PodFact>>();
  const nodeOf = new Map<string, string>();
  const refused = new Map<string, PodFact>();

  /** Takes the pod out; answers where it was. */
  function remove(key: string): string | undefined {
    const node = nodeOf.get(key);
    if (node === undefined) return undefined;
    nodeOf.delete(key);
    const there = onNode.get(node);
    there?.delete(key);
    if (there?.size === 0) onNode.delete(node);
    return node;
  }

  function add(key: string, pod: PodFact): void {
    if (pod.node === '') {
      if (pod.refusal !== undefined) refused.set(key, pod);
      return;
    }
    const there = onNode.get(pod.node) ?? new Map<string, PodFact>();
    onNode.set(pod.node, there.set(key, pod));
    nodeOf.set(key, pod.node);
  }

  return {
    change(key, pod) {
      const before = remove(key);
      const wasRefused = refused.delete(key);
      if (pod) add(key, pod);
      const nodes = new Set([before, pod?.node].filter((node): node is string => node !== undefined && node !== ''));
      return { nodes, waits: wasRefused || refused.has(key) };
    },
    on: (node) => [...(onNode.get(node)?.values() ?? [])],
    refused: () => refused.values(),
  };
}
