// What Nebius refuses beyond the rules of its messages: sizes that it does not sell, and what does not exist.
import type { CreateInstanceRequest, InstanceSpec } from '../gen/nebius_pb.ts';
import { refused } from './refusals.ts';
import { FILESYSTEMS, GPU_CLUSTERS, PLATFORMS, PROJECTS, SERVICE_ACCOUNTS, SUBNETS } from './seed-data.ts';

// Nebius publishes no rule; this one is there so that a refusal of labels is seen.
const LABEL = /^[\w./-]{1,63}$/;

const bad = (field: string, message: string): Error => refused('BadRequest', `${field}: ${message}`);
const absent = (id: string): Error => refused('ResourceNotFound', id);

/** IAM does not tell whether a project of others exists. */
export function refuseUnknownProject(id: string): void {
  if (!(PROJECTS as readonly string[]).includes(id)) throw refused('PermissionDenied', 'Permission denied');
}

function checkSize({ resources, preemptible }: InstanceSpec): void {
  const { platform = '', preset = '' } = resources ?? {};
  const found = PLATFORMS.find(({ name }) => name === platform);
  if (!found) throw bad('spec.resources.platform', `unknown platform "${platform}"`);
  if (!found.presets.some(({ name }) => name === preset))
    throw bad('spec.resources.preset', `unknown preset "${preset}"`);
  if (preemptible && !found.isPreemptible) throw bad('spec.preemptible', 'the platform is not preemptible');
}

function checkLabels(labels: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(labels)) {
    if (!LABEL.test(key) || (value !== '' && !LABEL.test(value)))
      throw bad(`metadata.labels.${key}`, 'may have letters, digits and _ . / -, at most 63');
  }
}

const refuseAbsent = (ids: readonly (string | undefined)[], existing: readonly string[]): void => {
  for (const id of ids) if (id && !existing.includes(id)) throw absent(id);
};

function checkReferences(spec: InstanceSpec, project: string, hasImage: (id: string) => boolean): void {
  for (const { subnetId } of spec.networkInterfaces) if (SUBNETS[subnetId] !== project) throw absent(subnetId);
  refuseAbsent([spec.serviceAccountId], SERVICE_ACCOUNTS);
  refuseAbsent([spec.gpuCluster?.id], GPU_CLUSTERS);
  refuseAbsent(
    spec.filesystems.map(({ existingFilesystem }) => existingFilesystem?.id),
    FILESYSTEMS,
  );
  const image = spec.bootDisk?.managedDisk?.spec?.sourceImageId ?? '';
  if (!hasImage(image)) throw absent(image);
}

/** Refuses what does not exist, and what Nebius does not sell. */
export function checkCreation({ metadata, spec }: CreateInstanceRequest, hasImage: (id: string) => boolean): void {
  if (!metadata?.parentId) throw bad('metadata.parent_id', 'value is required');
  if (!spec) throw bad('spec', 'value is required');
  refuseUnknownProject(metadata.parentId);
  checkLabels(metadata.labels);
  checkSize(spec);
  if (!spec.bootDisk?.managedDisk) throw bad('spec.boot_disk', 'the simulated Nebius makes managed disks alone');
  checkReferences(spec, metadata.parentId, hasImage);
}
