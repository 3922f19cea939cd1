import type { FaultKind } from '#core/fault.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { testBackend } from '../../conformance/backend.ts';
import type { BackendWorld } from '../../conformance/backend-world.ts';
import { existing, openBackend, openScene, reached } from './fake/testing.ts';
import provider from './index.ts';

const refused = (status: number, message: string): CallFailure => ({ kind: 'error', code: 'refused', message, status });

const FAILURES: Readonly<Partial<Record<FaultKind, CallFailure>>> = {
  invalid: refused(400, 'invalid reference format: repository name must be lowercase'),
  exhausted: refused(500, 'mkdir /var/lib/docker/overlay2/x: no space left on device'),
  denied: refused(403, 'authorization denied by plugin opa'),
  unavailable: { kind: 'garbage' },
  throttled: { kind: 'throttle' },
};

async function openWorld(config: object): Promise<BackendWorld> {
  const scene = openScene();
  const { clock, fake, lines, during } = scene;
  const open = (cluster: string) => openBackend(scene, config, scene.contextFor(cluster));
  return {
    open,
    openWatching: open,
    existing: async () => existing(scene),
    during,
    settle: () => clock.advance(30_000),
    logged: () => lines.join('\n'),
    loseReply: () => void fake.failureRules.add({ action: 'create', what: { kind: 'lost reply' } }),
    breakListing: () => void fake.failureRules.add({ action: 'list', what: { kind: 'truncated reply' } }),
    hang: () => void fake.failureRules.add({ times: 1_000, what: { kind: 'hang' } }),
    failLate: () => fake.refuseLate(1),
    fail: (kind) => void fake.failureRules.add({ action: 'create', what: FAILURES[kind] as CallFailure }),
    reached: async (endpoint) => reached(scene, endpoint),
    close: async () => {},
  };
}

const HARNESS = {
  kind: provider.backends.docker,
  hasEndpoints: true,
  faults: Object.keys(FAILURES) as FaultKind[],
} as const;

// The broker of the suite listens on loopback alone: its containers are on the network of the machine.
testBackend('docker', { ...HARNESS, openWorld: () => openWorld({}) });
testBackend('docker, with containers that have ports of their own,', {
  ...HARNESS,
  openWorld: () => openWorld({ agentConfig: { broker: { address: 'https://muster.example:50051' } } }),
});
