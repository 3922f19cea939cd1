import type { MessageInitShape } from '@bufbuild/protobuf';
import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Launch } from '#core/provider.ts';
import { METHODS } from '../api.ts';
import type { Nebius } from '../client.ts';
import { type InstanceConfig, isDefaultFamily } from '../config.ts';
import {
  AttachMode,
  type CreateInstanceRequestSchema,
  DiskEncryption_Type,
  type DiskSpecSchema,
  DiskType,
  Preemptible_Policy,
  RecoveryPolicy,
} from '../gen/nebius_pb.ts';
import { bootData, mountTag } from './boot-data.ts';
import { labelsFor } from './marks.ts';

const DISKS: Readonly<Record<NonNullable<InstanceConfig['bootDiskType']>, DiskType>> = {
  unspecified: DiskType.NETWORK_SSD,
  ssd: DiskType.NETWORK_SSD,
  ssd_nrd: DiskType.NETWORK_SSD_NON_REPLICATED,
  ssd_io: DiskType.NETWORK_SSD_IO_M3,
};

function diskOf(config: InstanceConfig, sourceImageId: string): MessageInitShape<typeof DiskSpecSchema> {
  const type = DISKS[config.bootDiskType ?? 'ssd'];
  return {
    sizeGibibytes: BigInt(config.bootDiskSizeGb),
    type,
    sourceImageId,
    // Only replicated disks are encrypted without being asked.
    ...(type !== DiskType.NETWORK_SSD && { diskEncryption: { type: DiskEncryption_Type.MANAGED } }),
  };
}

/** What one instance is made of, without what only a launch knows. */
export function specOf(config: InstanceConfig, sourceImageId: string) {
  const { platform, resourcePreset, subnetId, serviceAccountId = '', clusterId, filesystems } = config;
  return {
    serviceAccountId,
    resources: { platform, preset: resourcePreset },
    ...(clusterId && { gpuCluster: { id: clusterId } }),
    networkInterfaces: [{ subnetId, name: 'eth0', ipAddress: {}, ...(config.usePublicIp && { publicIpAddress: {} }) }],
    bootDisk: {
      attachMode: AttachMode.READ_WRITE,
      // Nebius deletes it together with the instance; one that was made apart would be left behind.
      managedDisk: { name: 'boot', spec: diskOf(config, sourceImageId) },
    },
    filesystems: filesystems.map(({ filesystemId: id }, at) => ({
      attachMode: AttachMode.READ_WRITE,
      mountTag: mountTag(at),
      existingFilesystem: { id },
    })),
    ...(config.preemptible && {
      preemptible: { onPreemption: Preemptible_Policy.STOP },
      recoveryPolicy: RecoveryPolicy.FAIL,
    }),
  } satisfies MessageInitShape<typeof CreateInstanceRequestSchema>['spec'];
}

const IMAGE_HOLDS_MS = 5 * MINUTE_MS;

/** The id of the newest image of a family. Families of one's own are in the project, others among the public images. */
export function imageOf(api: Nebius, { imageFamily, parentId }: InstanceConfig, signal: AbortSignal): Promise<string> {
  return api.keep(`image ${parentId} ${imageFamily}`, IMAGE_HOLDS_MS, async () => {
    const newestIn = (parent: string) =>
      api.ask(METHODS.getLatestImage, { imageFamily, parentId: parent }, { signal }).catch((thrown) => {
        const fault = Fault.from(thrown);
        if (fault.kind === 'missing') return fault;
        throw fault;
      });
    const own = isDefaultFamily(imageFamily) ? undefined : await newestIn(parentId);
    // Public families have no parent; which there are differs from region to region.
    const found = own === undefined || own instanceof Fault ? await newestIn('') : own;
    if (found instanceof Fault) {
      const remedy = `Correct image_family, or put an image of the family "${imageFamily}" into ${parentId}.`;
      throw new Fault('invalid', found.message, { cause: found.cause, remedy });
    }
    return found.metadata?.id ?? '';
  });
}

export interface Wanted {
  readonly launch: Launch;
  readonly name: string;
  readonly image: string;
}

/** The request for one instance. */
export function requestOf(
  config: InstanceConfig,
  { launch, name, image }: Wanted,
): MessageInitShape<typeof CreateInstanceRequestSchema> {
  const marks = labelsFor(launch.mark);
  const spec = specOf(config, image);
  const { managedDisk } = spec.bootDisk;
  return {
    metadata: { parentId: config.parentId, name, labels: { ...config.labels, ...marks } },
    spec: {
      ...spec,
      bootDisk: { ...spec.bootDisk, managedDisk: { ...managedDisk, name: `${name}-boot`, labels: marks } },
      cloudInitUserData: bootData(config, launch, name),
      hostname: name,
    },
  };
}
