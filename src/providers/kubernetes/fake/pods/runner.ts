import type { KubeObject } from '../objects/object.ts';

/** Runs the containers of pods: for tests in thought, for people as processes of this computer. */
export interface PodRunner {
  /** Starts all containers; answers the pod's address. `ended` hears of each that ends without being stopped. */
  start(pod: KubeObject, ended: (container: string, exitCode: number) => void): Promise<string>;
  /** Starts a container again that has ended; what the pod keeps on disk is as it was. */
  restart(pod: KubeObject, container: string): Promise<void>;
  /** SIGTERM, and SIGKILL after the grace; resolves when all have ended. */
  stop(pod: KubeObject, graceMs: number): Promise<void>;
  /** The pod is no more: its files go. */
  forget(pod: KubeObject): void;
}

const PER_BLOCK = 250;

/** Containers that run until they are told to end. */
export function thoughtRunner(stopIn: (pod: KubeObject, graceMs: number) => Promise<void>): PodRunner {
  let count = 0;
  return {
    start() {
      count += 1;
      return Promise.resolve(`10.244.${Math.floor(count / PER_BLOCK)}.${(count % PER_BLOCK) + 2}`);
    },
    restart: () => Promise.resolve(),
    stop: stopIn,
    forget() {},
  };
}
