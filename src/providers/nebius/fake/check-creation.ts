import type { CreateInstanceRequest, NetworkInterface } from '../gen/nebius_pb.ts';
import { refused } from './refusals.ts';
import { PLATFORMS } from './seed-data.ts';

const HOSTNAME = /^$|^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/;
const INTERFACE = /^[0-9a-z][0-9a-z-]{0,59}$/;
// Nebius publishes no rule; this one is there so that a refusal of labels is seen.
const LABEL = /^[\w./-]{1,63}$/;
const LONGEST_USER_DATA = 32_768;

const bad = (field: string, message: string): Error => refused('BadRequest', `${field}: ${message}`);

function checkSize({ platform, preset }: { readonly platform: string; readonly preset: string }): void {
  const found = PLATFORMS.find(({ name }) => name === platform);
  if (!found) throw bad('spec.resources.platform', `unknown platform "${platform}"`);
  if (!found.presets.some(({ name }) => name === preset))
    throw bad('spec.resources.preset', `unknown preset "${preset}"`);
}

function checkLabels(labels: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(labels)) {
    if (!LABEL.test(key) || (value !== '' && !LABEL.test(value)))
      throw bad(`metadata.labels.${key}`, 'may have letters, digits and _ . / -, at most 63');
  }
}

function checkInterfaces(interfaces: readonly NetworkInterface[]): void {
  if (interfaces.length === 0) throw bad('spec.network_interfaces', 'value is required');
  for (const { subnetId, name, ipAddress } of interfaces) {
    if (!subnetId || !ipAddress) throw bad('spec.network_interfaces', 'subnet_id and ip_address are required');
    if (!INTERFACE.test(name)) throw bad('spec.network_interfaces.name', 'must match ^[0-9a-z][0-9a-z-]*$');
  }
}

/** Refuses what the description of the API forbids. */
export function checkCreation({ metadata, spec }: CreateInstanceRequest): void {
  if (!metadata?.parentId) throw bad('metadata.parent_id', 'value is required');
  if (!spec?.resources) throw bad('spec.resources', 'value is required');
  checkSize(spec.resources);
  checkLabels(metadata.labels);
  const { bootDisk, networkInterfaces, cloudInitUserData, hostname } = spec;
  if (!bootDisk?.attachMode) throw bad('spec.boot_disk.attach_mode', 'value is required');
  if (!bootDisk.managedDisk?.name || !bootDisk.managedDisk.spec?.type) throw bad('spec.boot_disk', 'type is required');
  checkInterfaces(networkInterfaces);
  if (!HOSTNAME.test(hostname)) throw bad('spec.hostname', 'value must be a valid hostname');
  if (cloudInitUserData.length > LONGEST_USER_DATA)
    throw bad('spec.cloud_init_user_data', `must be at most ${LONGEST_USER_DATA} characters`);
  const platform = PLATFORMS.find(({ name }) => name === spec.resources?.platform);
  if (spec.preemptible && !platform?.isPreemptible) throw bad('spec.preemptible', 'the platform is not preemptible');
}
