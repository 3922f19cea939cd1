import { testImageBuilder } from 'muster/src/conformance/image-builder.ts';
import type { ImageBuilderWorld } from 'muster/src/conformance/image-builder-world.ts';
import type { FaultKind } from 'muster/src/core/fault.ts';
import { silentLog } from 'muster/src/core/log.ts';
import { seededRandom } from 'muster/src/core/random.ts';
import { openShared } from 'muster/src/core/shared.ts';
import { during } from 'muster/src/core/testing/during.ts';
import { VirtualClock } from 'muster/src/core/virtual-clock.ts';
import provider from './index.ts';
import { openWorkshop } from './workshop.ts';

const { depot_image } = provider.images;
const SETTLED_MS = 60_000;

const WORDS: Readonly<Partial<Record<FaultKind, string>>> = {
  unauthenticated: 'unknown_token',
  denied: 'not_allowed',
  throttled: 'too_fast',
};

async function openWorld(): Promise<ImageBuilderWorld> {
  const clock = new VirtualClock();
  const { images, works, failures, handle, begun } = openWorkshop(() => clock.now());
  const fetch = (async (input: URL, init?: RequestInit) => handle(new Request(input, init))) as typeof globalThis.fetch;
  const parts = { clock, random: seededRandom(1), log: silentLog, shared: openShared(), fetch };
  const context = { ...parts, cluster: 'images', dataDir: '/nowhere', agentCommand: [] };
  const config = depot_image.config.parse({ url: 'http://depot.internal', token: 'planted-token' });
  return {
    open: () => depot_image.open(config, context),
    settle: () => clock.advance(SETTLED_MS),
    during: (call) => during(clock, call),
    images: () => [...images.keys()],
    others: () => [...works.keys()].map((name) => `work ${name}`),
    builds: begun,
    ran: () => [],
    async addForeign() {
      const name = 'muster-agent-1.2.0-0a1b2c3d';
      images.set(name, { name, labels: { team: 'others' }, madeAtMs: 1 });
      return { name: 'muster-agent', version: '1.2.0', recipe: '', ids: { '': name }, reference: name, builtAt: 1 };
    },
    lack() {
      failures.error = 'unknown_token';
    },
    failStep(step, code, lines) {
      failures.failing = { step, code, lines };
    },
    async abandon({ id, startedAt }) {
      const image = { name: `muster-agent-9.9.9-${id}`, labels: {} };
      const labels = { build: id, started: String(startedAt) };
      works.set(id, { name: id, labels, image, steps: ['sleep 1d'], beganAtMs: Number.MAX_SAFE_INTEGER });
    },
    fail(kind) {
      failures.error = WORDS[kind];
    },
    hang() {
      failures.stands = true;
    },
    async close() {},
  };
}

const NO_REGISTRY = 'its images are where its containers start';

testImageBuilder('depot_image', {
  kind: depot_image,
  openWorld,
  secrets: ['planted-token'],
  faults: Object.keys(WORDS) as FaultKind[],
  excuses: { pushes: NO_REGISTRY, 'push refused': NO_REGISTRY },
});
