import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { systemClock } from '#core/clock.ts';
import type { World } from '../../system/harness/world.ts';
import { ADMIN, type ControlPlane } from './control-plane.ts';
import type { KubernetesPrograms } from './kubernetes.ts';

/** When pods were seen first, by a watch of kubectl, apart from what is tested. */
export interface PodStream {
  /** By the value of their label `pool`: when the first pod of it appeared, on the monotonic clock. */
  readonly firstSeenMs: ReadonlyMap<string, number>;
  /** The names of all pods that exist. */
  readonly pods: ReadonlySet<string>;
}

const LINE = '{.type} {.object.metadata.name} {.object.metadata.labels.pool}{"\\n"}';

export function followPods(world: World, cluster: ControlPlane, programs: KubernetesPrograms): PodStream {
  const firstSeenMs = new Map<string, number>();
  const pods = new Set<string>();
  const words = ['get', 'pods', '-A', '-w', '--output-watch-events', '-o', `jsonpath=${LINE}`];
  const env = { ...world.env, KUBECONFIG: cluster.kubeconfigOf(ADMIN) };
  function take(line: string): void {
    const [type, name = '', pool = ''] = line.split(' ');
    if (type === 'DELETED') pods.delete(name);
    else pods.add(name);
    if (!firstSeenMs.has(pool)) firstSeenMs.set(pool, systemClock.monotonic());
  }

  // The API server drops readers that fall behind, kubectl too: it begins anew until the world ends.
  function follow(): void {
    const watch = spawn(programs.program('kubectl'), words, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    createInterface(watch.stdout).on('line', take);
    watch.once('exit', (_code, signal) => signal === null && setTimeout(follow, 200).unref());
  }
  follow();
  return { firstSeenMs, pods };
}
