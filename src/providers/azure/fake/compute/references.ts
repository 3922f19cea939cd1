// What a machine may refer to, and the words of Azure where it does not exist.
import { refusal } from '#fakes/refusal.ts';
import { type Galleries, versionFor } from './galleries.ts';

/** What exists beside machines, by id in small letters; tests change it as they go. */
export interface References {
  readonly resourceGroups: Set<string>;
  /** Subnets, security groups and interfaces, with their locations. */
  readonly network: Map<string, string>;
  /** Images of the subscription and of galleries, with their locations. */
  readonly images: Map<string, string>;
  /** Of the marketplace: `publisher:offer:sku`, with the versions beside `latest`. */
  readonly platformImages: Map<string, readonly string[]>;
  readonly identities: Set<string>;
  readonly galleries: Galleries;
}

/** The machine that refers. */
interface Referrer {
  /** Of the machine itself. */
  readonly id: string;
  readonly location: string;
  readonly nowMs: number;
}

type Tree = Readonly<Record<string, unknown>>;

const SUBNETS = ['velda-network/subnets/agents', 'velda-network/subnets/private'];

const UBUNTU = ['server', 'server-gen1', 'server-arm64', 'minimal', 'minimal-arm64'];

export function openReferences(subscriptionId: string): References {
  const group = `/subscriptions/${subscriptionId}/resourcegroups/velda`;
  const network = `${group}/providers/microsoft.network`;
  return {
    // The second is that of computers whose caller names none.
    resourceGroups: new Set(['velda', 'commandlab-rg']),
    network: new Map([
      ...SUBNETS.map((one) => [`${network}/virtualnetworks/${one}`, 'westeurope'] as const),
      [`${network}/networksecuritygroups/agents`, 'westeurope'],
      [`${network}/networkinterfaces/spare`, 'westeurope'],
    ]),
    images: new Map([[`${group}/providers/microsoft.compute/images/agent`, 'westeurope']]),
    platformImages: new Map<string, readonly string[]>([
      ...UBUNTU.map((sku) => [`canonical:ubuntu-24_04-lts:${sku}`, ['24.04.202611010']] as const),
      ['microsoft-dsvm:ubuntu-hpc:2404', ['24.04.2026102901']],
      ['nvidia:ngc-base-version:ngc-base-version-24', ['24.10.0']],
    ]),
    identities: new Set([`${group}/providers/microsoft.managedidentity/userassignedidentities/workers`]),
    galleries: new Map(),
  };
}

/** Resource Manager looks for the group before anything in it. */
export function checkGroup({ resourceGroups }: References, group: string): void {
  if (group !== '' && !resourceGroups.has(group.toLowerCase()))
    throw refusal('ResourceGroupNotFound', `Resource group '${group}' could not be found.`, 404);
}

/** A resource of the network that another one refers to: it must exist, and in the same place. */
function checkNetworkId({ network }: References, { id, path, by, location }: Tree & { readonly id: string }): void {
  if (!/^\/(subscriptions|providers)\//i.test(id))
    throw refusal(
      'LinkedInvalidPropertyId',
      `Property id '${id}' at path '${path}' is invalid. Expect fully qualified resource Id that start with '/subscriptions/{subscriptionId}' or '/providers/{resourceProviderNamespace}/'.`,
    );
  if (network.get(id.toLowerCase()) !== location)
    throw refusal(
      'InvalidResourceReference',
      `Resource ${id} referenced by resource ${by} was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.`,
    );
}

interface Ip {
  readonly properties?: { readonly subnet?: { readonly id?: string } };
}

interface Interface {
  readonly name?: string;
  readonly properties?: {
    readonly networkSecurityGroup?: { readonly id?: string };
    readonly ipConfigurations?: readonly Ip[];
  };
}

interface NetworkProfile {
  readonly networkInterfaces?: readonly { readonly id?: string }[];
  readonly networkInterfaceConfigurations?: readonly Interface[];
}

function checkNetwork(references: References, profile: NetworkProfile, { id: vm, location }: Referrer): void {
  const base = 'properties.networkProfile';
  for (const [at, { id = '' }] of (profile.networkInterfaces ?? []).entries())
    checkNetworkId(references, { id, path: `${base}.networkInterfaces[${at}].id`, by: vm, location });
  for (const [at, { name, properties }] of (profile.networkInterfaceConfigurations ?? []).entries()) {
    const by = `${vm.replace(/Microsoft\.Compute.*$/i, 'Microsoft.Network')}/networkInterfaces/${name}`;
    const path = `${base}.networkInterfaceConfigurations[${at}].properties`;
    const { networkSecurityGroup, ipConfigurations = [] } = properties ?? {};
    if (networkSecurityGroup?.id !== undefined) {
      const own = { id: networkSecurityGroup.id, path: `${path}.networkSecurityGroup.id` };
      checkNetworkId(references, { ...own, by, location });
    }
    for (const [place, ip] of ipConfigurations.entries()) {
      const id = ip.properties?.subnet?.id;
      if (id !== undefined)
        checkNetworkId(references, {
          id,
          path: `${path}.ipConfigurations[${place}].properties.subnet.id`,
          ...{ by, location },
        });
    }
  }
}

type ImageReference = Readonly<Record<string, string | undefined>>;

function checkImage(
  { images, platformImages, galleries }: References,
  image: ImageReference,
  { location, nowMs }: Referrer,
): void {
  const { id, publisher = '', offer = '', sku = '', version = '' } = image;
  if (id !== undefined && /\/galleries\//i.test(id)) {
    if (versionFor(galleries, { id, location, nowMs })) return;
    throw refusal(
      'GalleryImageNotFound',
      `The gallery image ${id} is not available in ${location} region. Please contact image owner to replicate to this region, or change your requested region.`,
      404,
    );
  }
  const inGallery = image.communityGalleryImageId ?? image.sharedGalleryImageId;
  const found = images.get((id ?? inGallery ?? '').toLowerCase());
  if (inGallery !== undefined && found !== location)
    throw refusal(
      'GalleryImageNotFound',
      `The gallery image ${inGallery} is not available in ${location} region. Please contact image owner to replicate to this region, or change your requested region.`,
      404,
    );
  if (id !== undefined && found !== location)
    throw refusal('InvalidParameter', `The Image '${id}' cannot be found in '${location}' region.`);
  if (id !== undefined || inGallery !== undefined) return;
  const versions = platformImages.get(`${publisher}:${offer}:${sku}`.toLowerCase());
  if (!versions?.includes(version) && !(versions && version === 'latest'))
    throw refusal(
      'PlatformImageNotFound',
      `The platform image '${publisher}:${offer}:${sku}:${version}' is not available. Verify that all fields in the storage profile are correct. For more details about storage profile information, please refer to https://aka.ms/storageprofile`,
      404,
    );
}

/** A public key of OpenSSH: its type stands before and within what it encodes. */
export function isSshKey(text: string): boolean {
  const [type = '', encoded = ''] = text.split(' ');
  const bytes = Buffer.from(encoded, 'base64');
  const length = bytes.byteLength >= 4 ? bytes.readUInt32BE(0) : 0;
  return /^ssh-(rsa|ed25519)$/.test(type) && bytes.subarray(4, 4 + length).toString() === type;
}

interface LinuxProfile {
  readonly adminUsername?: string;
  readonly linuxConfiguration?: {
    readonly ssh?: { readonly publicKeys?: readonly { readonly path?: string; readonly keyData?: string }[] };
  };
}

function checkKeys({ adminUsername, linuxConfiguration }: LinuxProfile): void {
  const home = `/home/${adminUsername}/.ssh/authorized_keys`;
  for (const { path, keyData = '' } of linuxConfiguration?.ssh?.publicKeys ?? []) {
    if (path !== home)
      throw refusal(
        'InvalidParameter',
        `Destination path for SSH public keys is currently limited to its default value ${home}  due to a known issue in Linux provisioning agent.`,
      );
    if (!isSshKey(keyData))
      throw refusal('InvalidParameter', 'The value of parameter linuxConfiguration.ssh.publicKeys.keyData is invalid.');
  }
}

interface Referring {
  readonly identity?: { readonly userAssignedIdentities?: Tree };
  readonly properties?: {
    readonly networkProfile?: NetworkProfile;
    readonly storageProfile?: { readonly imageReference?: ImageReference };
    readonly osProfile?: LinuxProfile;
  };
}

/** Throws for the first reference to what does not exist. */
export function checkReferences(references: References, body: Tree, referrer: Referrer): void {
  const { identity, properties = {} } = body as Referring;
  for (const id of Object.keys(identity?.userAssignedIdentities ?? {}))
    if (!references.identities.has(id.toLowerCase()))
      throw refusal(
        'FailedIdentityOperation',
        `Identity operation for resource '${referrer.id}' failed with error 'Failed to perform resource identity operation. Status: 'BadRequest'. Response: '{"error":{"code":"BadRequest","message":"Resource '${id}' was not found."}}'.'.`,
      );
  checkKeys(properties.osProfile ?? {});
  checkImage(references, properties.storageProfile?.imageReference ?? {}, referrer);
  checkNetwork(references, properties.networkProfile ?? {}, referrer);
}
