import type { FaultKind } from '#core/fault.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { testImageBuilder } from '../../../conformance/image-builder.ts';
import type { ImageBuilderWorld } from '../../../conformance/image-builder-world.ts';
import { existing, openScene } from '../fake/testing.ts';
import provider from '../index.ts';
import { openDockerImages } from './builder.ts';
import { DockerImageConfig } from './config.ts';
import { LABEL } from './labels.ts';

const refused = (status: number, message: string): CallFailure => ({ kind: 'error', code: 'refused', message, status });

const FAILURES: Readonly<Partial<Record<FaultKind, CallFailure>>> = {
  exhausted: refused(500, 'write /var/lib/docker/tmp/x: no space left on device'),
  denied: refused(403, 'authorization denied by plugin opa'),
  unavailable: { kind: 'garbage' },
  throttled: { kind: 'throttle' },
};

const BASE = 'node:24-bookworm-slim';

function openWorld(): ImageBuilderWorld {
  const scene = openScene();
  const { fake, clock, during } = scene;
  fake.images.build(BASE);
  const { builds, images } = fake;
  // What is there before Muster: the base, and the image of other tests.
  const before = new Set(images.local.keys());
  const nameless = (): string[] => {
    const named = new Set(images.local.values());
    const isParent = (id: string): boolean => [...builds.layers.values()].some(({ parent }) => parent === id);
    return [...builds.layers.keys()].filter((id) => !named.has(id) && !isParent(id));
  };
  return {
    open: async () => openDockerImages(DockerImageConfig.parse({}), scene.contextFor()),
    settle: () => clock.advance(5_000),
    during,
    images: () => [...images.local.keys()].filter((name) => !before.has(name)),
    others: () => [...existing(scene), ...nameless()],
    builds: builds.begun,
    ran: () => [],
    async addForeign() {
      const id = images.build('muster-agent:1.2.0', 'by hand');
      images.build('others/program:1.0.0');
      const image = { name: 'muster-agent', version: '1.2.0', recipe: '', builtAt: 1 };
      return { ...image, ids: { '': id }, reference: 'muster-agent:1.2.0' };
    },
    lack: () => void fake.failureRules.add({ times: 1_000, what: { kind: 'lost request' } }),
    failStep: (at, code, lines) => builds.failRun({ at, code, lines }),
    async abandon({ id, startedAt }) {
      builds.abandon({ [LABEL.recipe]: 'r', [LABEL.build]: id, [LABEL.started]: String(startedAt) });
    },
    pushed: () => builds.pushed,
    refusePush: builds.refusePush,
    fail(kind) {
      fake.failureRules.clear();
      fake.failureRules.add({ times: 1_000, what: FAILURES[kind] as CallFailure });
    },
    hang: builds.hang,
    async close() {},
  };
}

testImageBuilder('docker', {
  kind: provider.images.docker,
  openWorld: async () => openWorld(),
  faults: Object.keys(FAILURES) as FaultKind[],
});
