import { withoutEnd } from '#boot/agent-file.ts';
import type { Launch } from '#core/provider.ts';
import { launchLabels } from '../compute/marks.ts';
import { OWN_NAME, STARTUP_KEY, startupScript } from '../compute/startup.ts';
import type { InstanceConfig } from './config.ts';
import { runSeconds } from './run-time.ts';

/** Machine types that have GPUs (`a4x-highgpu-4g`) or TPUs (`ct6e-standard-4t`): these cannot be moved to another host while they run. */
const BOUND_TO_HOST = /^(?:a\d+x?|g\d+|ct\d+[a-z]*|tpu\d+[a-z]*)-/;

const pathTo = (collection: string, written: string): string =>
  written.includes('/') ? written : `${collection}/${written}`;

function networkOf({ network, subnetwork, externalIp, zone }: InstanceConfig): object {
  const region = zone.replace(/-[a-z]$/, '');
  return {
    ...(subnetwork !== undefined && { subnetwork: pathTo(`regions/${region}/subnetworks`, subnetwork) }),
    ...(network !== undefined || subnetwork === undefined
      ? { network: pathTo('global/networks', network ?? 'default') }
      : {}),
    ...(externalIp && { accessConfigs: [{ type: 'ONE_TO_ONE_NAT', name: 'External NAT' }] }),
  };
}

function hostRules({ provisioningModel, acceleratorType, machineType }: InstanceConfig): object | undefined {
  // A spot machine that only stops would keep its disk for ever.
  if (provisioningModel === 'spot') {
    return {
      provisioningModel: 'SPOT',
      instanceTerminationAction: 'DELETE',
      onHostMaintenance: 'TERMINATE',
      automaticRestart: false,
    };
  }
  const isBound = acceleratorType !== undefined || BOUND_TO_HOST.test(machineType);
  return isBound ? { onHostMaintenance: 'TERMINATE' } : undefined;
}

function schedulingOf(config: InstanceConfig, launch: Launch): object | undefined {
  const seconds = runSeconds(launch);
  if (seconds === undefined) return hostRules(config);
  return {
    ...hostRules(config),
    maxRunDuration: { seconds: String(seconds) },
    instanceTerminationAction: 'DELETE',
  };
}

function metadataOf(config: InstanceConfig, launch: Launch): object {
  const isSpot = config.provisioningModel === 'spot';
  const boot = runSeconds(launch) === undefined ? launch.boot : withoutEnd(launch.boot);
  const parts = { boot, naming: OWN_NAME, overrides: config, isSpot, ofTemplate: config.startupScript };
  const all = { ...config.metadata, [STARTUP_KEY]: startupScript(parts) };
  return { items: Object.entries(all).map(([key, value]) => ({ key, value })) };
}

/** All instances of a launch by one call: they differ in their names alone. */
export function bodyFor(config: InstanceConfig, launch: Launch, more: { names: readonly string[]; image: string }) {
  const { machineType, diskSizeGb, diskType, serviceAccount, tags, labels, acceleratorType, acceleratorCount } = config;
  const { names, image } = more;
  const scheduling = schedulingOf(config, launch);
  return {
    count: names.length,
    // Each one counts: the names that there is no room for are asked for elsewhere.
    minCount: 1,
    perInstanceProperties: Object.fromEntries(names.map((name) => [name, {}])),
    instanceProperties: {
      machineType,
      labels: { ...labels, ...launchLabels(launch) },
      metadata: metadataOf(config, launch),
      disks: [
        {
          boot: true,
          autoDelete: true,
          initializeParams: {
            sourceImage: image,
            ...(diskSizeGb !== undefined && { diskSizeGb }),
            ...(diskType !== undefined && { diskType }),
          },
        },
      ],
      networkInterfaces: [networkOf(config)],
      ...(scheduling && { scheduling }),
      ...(tags && { tags: { items: tags } }),
      ...(serviceAccount !== undefined && {
        serviceAccounts: [{ email: serviceAccount, scopes: ['https://www.googleapis.com/auth/cloud-platform'] }],
      }),
      ...(acceleratorType !== undefined && { guestAccelerators: [{ acceleratorType, acceleratorCount }] }),
    },
  };
}
