import { afterAll, beforeAll } from 'vitest';
import { openWorld, type World } from '../../system/harness/world.ts';
import { type KubeScene, type KubeSceneOptions, openKubeScene } from './kube-scene.ts';
import { kubernetesPrograms } from './kubernetes.ts';
import { isMissing, type Part } from './part.ts';

/** One control plane and one server for all tests of a file, since they take their time to start. */
export function sharedScene(options?: KubeSceneOptions): () => Part<KubeScene> {
  let world: World | undefined;
  let part: Part<KubeScene> = { missing: 'the scene' };

  beforeAll(async () => {
    const programs = await kubernetesPrograms();
    if (isMissing(programs)) {
      part = programs;
      return;
    }
    world = openWorld();
    part = await openKubeScene(world, programs, options);
  });
  afterAll(() => world?.close());
  return () => part;
}
