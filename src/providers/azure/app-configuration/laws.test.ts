import type { FaultKind } from '#core/fault.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { testSource } from '../../../conformance/source.ts';
import type { SourceWorld } from '../../../conformance/source-world.ts';
import provider from '../index.ts';
import { openScene, type Scene } from '../testing.ts';

const ALWAYS = 1_000;
const LIST = 'appConfiguration.kvList';
const KEY_VAULT = 'application/vnd.microsoft.appconfig.keyvaultref+json;charset=utf-8';
const SERVER_ERROR: CallFailure = { kind: 'error', code: 'Internal', message: 'Try again.', status: 503 };

function failAs(kind: FaultKind, { fake, store }: Scene): void {
  const { failureRules, world } = fake;
  world.stores.set(store.name, store);
  failureRules.clear();
  world.denied.clear();
  if (kind === 'throttled') failureRules.add({ action: LIST, times: ALWAYS, what: { kind: 'throttle' } });
  if (kind === 'unavailable') failureRules.add({ action: LIST, times: ALWAYS, what: SERVER_ERROR });
  if (kind === 'denied') world.denied.add('Microsoft.AppConfiguration/configurationStores/keyValues/read');
  if (kind === 'missing') world.stores.clear();
  if (kind === 'unauthenticated') {
    world.proofs.clear();
    world.granted.clear();
  }
}

async function openWorld(): Promise<SourceWorld> {
  const scene = openScene();
  const { fake, store } = scene;
  fake.world.largestPage = 1;
  const keyOf = (name: string): string => `pools/team/${name}`;
  return {
    open: () => scene.openSource(),
    async write(name, text) {
      store.put(keyOf(name), text);
      return keyOf(name);
    },
    remove: async (name) => void store.remove(keyOf(name)),
    during: scene.during,
    logged: () => scene.lines.join('\n'),
    spoil: async (name) => void store.put(keyOf(name), '{"uri": "https://v"}', { contentType: KEY_VAULT }),
    breakListing: async () =>
      void fake.failureRules.add({ action: LIST, after: 2, times: ALWAYS, what: { kind: 'garbage' } }),
    hang: () => void fake.failureRules.add({ times: ALWAYS, what: { kind: 'hang' } }),
    fail: async (kind) => failAs(kind, scene),
    close: async () => {},
  };
}

testSource('key-values of App Configuration', {
  kind: provider.sources.azure,
  openWorld,
  many: 25,
  faults: ['throttled', 'unavailable', 'denied', 'missing', 'unauthenticated'],
});
