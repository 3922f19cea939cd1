// Pods whose node is gone go too: nothing else would ever end them.
import type { World } from '../world.ts';

export function runOrphanedPodCollector({ store, clock, behaviour }: World): void {
  const isGone = (node: string): boolean => store.get('/nodes', undefined, node) === undefined;

  function collect(node: string): void {
    if (!isGone(node)) return;
    // Without a kubelet they get no time to end.
    for (const pod of store.list('/pods')) if (pod.spec?.nodeName === node) store.remove('/pods', pod);
  }

  store.watch(({ type, storage, object }) => {
    if (storage !== '/nodes' || type !== 'DELETED') return;
    clock.alarm(behaviour.collectMs, () => collect(object.metadata.name));
  });
}
