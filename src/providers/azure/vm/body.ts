// What one machine is made of, in one request: Azure makes interface, address and disk along with it, and deletes
// them along with it.
import { generateKeyPairSync } from 'node:crypto';
import { agentFile, hasWorkDir, withOverrides } from '#boot/agent-file.ts';
import { bootScript, NAME_PLACE, WORK_DIR } from '#boot/script.ts';
import { userData } from '#boot/user-data.ts';
import type { Launch } from '#core/provider.ts';
import type { VmConfig } from './config.ts';
import type { Group } from './group.ts';
import { tagsFor } from './marks.ts';
import { makesNetwork, makesSecurityGroup, ownSecurityGroupId, ownSubnetId } from './own-network.ts';

const USER_DATA_LIMIT = { cloud: 'Azure', bytes: 65_535 };
/** The only form of network settings inside a machine that Azure knows. */
export const INLINE_NETWORK_VERSION = '2022-11-01';

export type MachineConfig = Pick<VmConfig, 'sshPublicKey' | 'adminUsername' | 'agentConfig' | 'agentConfigContent'>;

let madeKey: string | undefined;

/** Azure insists on a way to log in: a random key, whose other half is thrown away at once. */
function thrownAwayKey(): string {
  if (madeKey === undefined) {
    const { publicKey } = generateKeyPairSync('ed25519');
    const raw = Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url');
    const field = (bytes: Buffer): Buffer => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return Buffer.concat([length, bytes]);
    };
    const packed = Buffer.concat([field(Buffer.from('ssh-ed25519')), field(raw)]);
    madeKey = `ssh-ed25519 ${packed.toString('base64')}`;
  }
  return madeKey;
}

/** The custom data of one machine, as base64. */
export function customDataFor(
  config: MachineConfig,
  { boot }: Launch,
  { name, isSpot }: { name: string; isSpot: boolean },
): string {
  const settings = {
    name: NAME_PLACE,
    ...(hasWorkDir(config) ? {} : { workDir: WORK_DIR }),
    ...(isSpot ? { notices: 'azure' } : {}),
  };
  const file = agentFile(withOverrides(boot, config), settings);
  const script = bootScript({ naming: { name }, agentFile: file, install: boot.install });
  return userData(script, undefined, USER_DATA_LIMIT).toString('base64');
}

/** How to log in to a machine. */
export function linuxLogin({ adminUsername, sshPublicKey }: MachineConfig): object {
  const key = { path: `/home/${adminUsername}/.ssh/authorized_keys`, keyData: sshPublicKey ?? thrownAwayKey() };
  return { adminUsername, linuxConfiguration: { disablePasswordAuthentication: true, ssh: { publicKeys: [key] } } };
}

function imageReference(image: string): object {
  const [publisher, offer, sku, version] = image.split(':');
  if (version !== undefined) return { publisher, offer, sku, version };
  if (/^\/CommunityGalleries\//i.test(image)) return { communityGalleryImageId: image };
  return /^\/SharedGalleries\//i.test(image) ? { sharedGalleryImageId: image } : { id: image };
}

/** With what the network of one machine is named and tagged. */
interface NetworkParts {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly subnet: string;
  readonly securityGroup: string | undefined;
  readonly isPublic: boolean;
}

function networkProfile({ name, tags, subnet, securityGroup, isPublic }: NetworkParts): object {
  const address = {
    name: `${name}-ip`,
    sku: { name: 'Standard' },
    tags,
    properties: { deleteOption: 'Delete', publicIPAllocationMethod: 'Static' },
  };
  const ipProperties = {
    primary: true,
    subnet: { id: subnet },
    ...(isPublic && { publicIPAddressConfiguration: address }),
  };
  const properties = {
    primary: true,
    deleteOption: 'Delete',
    ipConfigurations: [{ name: 'ip', properties: ipProperties }],
    ...(securityGroup !== undefined && { networkSecurityGroup: { id: securityGroup } }),
  };
  return {
    networkApiVersion: INLINE_NETWORK_VERSION,
    networkInterfaceConfigurations: [{ name: `${name}-nic`, tags, properties }],
  };
}

function market({ market: chosen, spotMaxPrice = -1 }: VmConfig): object {
  // Deleted, not deallocated: what stays behind would count against the quota and the pool.
  return chosen === 'spot'
    ? { priority: 'Spot', evictionPolicy: 'Delete', billingProfile: { maxPrice: spotMaxPrice } }
    : {};
}

/** `NETWORK/SUBNET` as an id. */
export function subnetIn({ path }: Pick<Group, 'path'>, subnetId: string): string {
  const [network, subnet] = subnetId.split('/');
  if (network === '') return subnetId;
  return `${path}/providers/Microsoft.Network/virtualNetworks/${network}/subnets/${subnet}`;
}

/** Where the machine is: as configured, or in what is made for it. Without an address of its own it could not reach the server from there. */
function networkOf(config: VmConfig, launch: Launch, { name, group }: { name: string; group: Group }) {
  const { subnetId, networkSecurityGroupId, publicIp } = config;
  const isOpen = makesSecurityGroup(config, launch);
  return {
    subnet: subnetId === undefined ? ownSubnetId(group, name) : subnetIn(group, subnetId),
    securityGroup: isOpen ? ownSecurityGroupId(group, name) : networkSecurityGroupId,
    isPublic: publicIp || makesNetwork(config),
  };
}

/** The request for one machine of that group. */
export function bodyFor(config: VmConfig, launch: Launch, { name, group }: { name: string; group: Group }): object {
  const { location, vmSize, image, zone, diskSizeGb, diskType, identityIds = [] } = config;
  const ownParts = { hasOwnNetwork: makesNetwork(config), hasOwnSecurityGroup: makesSecurityGroup(config, launch) };
  const tags = tagsFor(config.tags, launch, name, ownParts);
  const isSpot = config.market === 'spot';
  const osDisk = {
    name: `${name}-os`,
    createOption: 'FromImage',
    deleteOption: 'Delete',
    managedDisk: { storageAccountType: diskType },
    ...(diskSizeGb !== undefined && { diskSizeGB: diskSizeGb }),
  };
  return {
    location,
    tags,
    ...(zone && { zones: [zone] }),
    ...(identityIds.length > 0 && {
      identity: {
        type: 'UserAssigned',
        userAssignedIdentities: Object.fromEntries(identityIds.map((id) => [id, {}])),
      },
    }),
    properties: {
      hardwareProfile: { vmSize },
      storageProfile: { imageReference: imageReference(image), osDisk },
      osProfile: {
        computerName: name,
        customData: customDataFor(config, launch, { name, isSpot }),
        ...linuxLogin(config),
      },
      networkProfile: networkProfile({ name, tags, ...networkOf(config, launch, { name, group }) }),
      ...market(config),
    },
  };
}
