import type { HostStatus, Runtime } from '#core/runtime.ts';
import type { RenderedRuntime, RuntimeGrant } from '#core/runtime-host.ts';
import type * as wire from '../wire/runtime.ts';
import { toTime } from '../wire/shared.ts';

const shownGrant = ({ host, audience, dataDir, cpu, memoryGb, storageBytes }: RuntimeGrant) => ({
  host,
  audience,
  data_dir: dataDir,
  cpu,
  memory_gb: memoryGb,
  storage_bytes: storageBytes,
});

export function shownRuntime(runtime: Runtime): wire.Runtime {
  const { id, provisioner, slots, version, environment, annotations, phase, why, grant } = runtime;
  return {
    id,
    provisioner,
    slots,
    version,
    running_version: runtime.applied?.version,
    environment,
    annotations,
    disk_gb: runtime.diskGb,
    phase,
    since: toTime(runtime.since),
    why,
    grant: grant && shownGrant(grant),
    created_at: toTime(runtime.createdAt),
  };
}

export function shownRender({ digest, grant, manifests }: RenderedRuntime): wire.Rendered {
  return { digest, grant: shownGrant(grant), manifests: [...manifests] };
}

export function shownHost({ host, provisioners, slots, used, isDrained, runtimes }: HostStatus): wire.RuntimeHost {
  return {
    host,
    provisioners: [...provisioners],
    slots,
    used,
    free: Math.max(0, slots - used),
    drained: isDrained,
    runtimes: [...runtimes],
  };
}
