import type { FaultKind } from '#core/fault.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { testBackend } from '../../../conformance/backend.ts';
import type { BackendWorld } from '../../../conformance/backend-world.ts';
import { type Failures, troubleIn } from '../../../conformance/scene.ts';
import { containerIn, hostOf, isLiving } from '../fake/run/service.ts';
import { LATER_PAGE, openRunScene } from '../fake/run/testing/scene.ts';
import gcp from '../index.ts';

const LAG_MS = 3_000;
const HTTPS = 443;
const refused = (code: string, status: number, message = code): CallFailure => ({
  kind: 'error',
  ...{ code, message, status },
});

const FAILURES: Failures = {
  quota: refused('INVALID_ARGUMENT', 400, 'Quota violated: CpuAllocPerProjectRegion requested: 24000 allowed: 20000'),
  invalid: refused('INVALID_ARGUMENT', 400, 'template.containers[0].image: expected a container image path.'),
  throttled: { kind: 'throttle' },
  denied: refused('PERMISSION_DENIED', 403, "Permission 'run.services.create' denied on resource"),
  unavailable: { kind: 'garbage' },
};

async function openWorld(): Promise<BackendWorld> {
  const scene = openRunScene({ pageSize: 1, lagMs: LAG_MS });
  const { clock, run, contextFor } = scene;
  return {
    ...troubleIn(scene, { creation: 'run.services.create', laterPage: LATER_PAGE, failures: FAILURES }),
    open: (cluster) => scene.open({}, contextFor(cluster)),
    existing: async () => run.services.filter((one) => isLiving(one, clock.now())).map(({ id }) => id),
    async reached({ host, port, scheme }) {
      const found = run.services.find((one) => hostOf(one) === host);
      if (!found || port !== HTTPS || scheme !== 'https') return undefined;
      return { name: found.id, port: containerIn(found).ports?.[0]?.containerPort ?? 0 };
    },
    hideFromListings() {
      run.behaviour.lagMs = Number.POSITIVE_INFINITY;
    },
    failLate() {
      run.late = 1;
    },
  };
}

testBackend('gcp_cloud_run', {
  kind: gcp.backends.gcp_cloud_run,
  openWorld,
  hasEndpoints: true,
  many: 4,
  faults: Object.keys(FAILURES) as FaultKind[],
});
