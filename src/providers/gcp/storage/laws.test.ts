import type { FaultKind } from '#core/fault.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { testSource } from '../../../conformance/source.ts';
import type { SourceWorld } from '../../../conformance/source-world.ts';
import provider from '../index.ts';
import { openScene, type Scene, SERVICE_ACCOUNT } from '../testing.ts';

const ALWAYS = 1_000;
const LIST = 'storage.objects.list';
const SERVER_ERROR: CallFailure = { kind: 'error', code: 'backendError', message: 'Backend Error', status: 503 };

function failAs(kind: FaultKind, { fake }: Scene): void {
  const { failureRules, world } = fake;
  failureRules.clear();
  world.denied.clear();
  if (kind === 'throttled') failureRules.add({ action: LIST, times: ALWAYS, what: { kind: 'throttle' } });
  if (kind === 'unavailable') failureRules.add({ action: LIST, times: ALWAYS, what: SERVER_ERROR });
  if (kind === 'denied') world.denied.add(LIST);
  if (kind === 'missing') world.storage.buckets.clear();
  if (kind === 'unauthenticated') {
    world.accountKeys.clear();
    world.granted.revokeAll();
  }
}

async function openWorld(): Promise<SourceWorld> {
  const scene = openScene();
  const { fake, bucket } = scene;
  scene.writeCredentials(SERVICE_ACCOUNT);
  Object.assign(fake.world.storage, { largestPage: 1, emptyPages: 1 });
  const keyOf = (name: string): string => `pools/team/${name}.json`;
  return {
    open: () => scene.openGcs(),
    async write(name, text) {
      bucket.put(keyOf(name), text);
      return keyOf(name);
    },
    remove: async (name) => void bucket.remove(keyOf(name)),
    during: scene.during,
    logged: () => scene.lines.join('\n'),
    spoil: async (name) => void fake.world.storage.sealed.add(keyOf(name)),
    breakListing: async () =>
      void fake.failureRules.add({ action: LIST, after: 2, times: ALWAYS, what: { kind: 'garbage' } }),
    hang: () => void fake.failureRules.add({ times: ALWAYS, what: { kind: 'hang' } }),
    fail: async (kind) => failAs(kind, scene),
    close: async () => {},
  };
}

testSource('objects of Cloud Storage', {
  kind: provider.sources.gcs,
  openWorld,
  many: 25,
  faults: ['throttled', 'unavailable', 'denied', 'missing', 'unauthenticated'],
});
