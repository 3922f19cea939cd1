import { refusal } from '#fakes/refusal.ts';
import type { Tags } from './machine.ts';
import { LOCATIONS, SIZES } from './seed-data.ts';

/** What a creation asks for, once it is known to be good. */
export interface WantedVm {
  readonly location: string;
  readonly zones: readonly string[] | undefined;
  readonly tags: Tags;
  readonly size: string;
  readonly set: string | undefined;
  readonly isSpot: boolean;
  readonly customData: string;
  /** What is bought along with the image. */
  readonly plan: unknown;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly parts: readonly WantedPart[];
}

export interface WantedPart {
  readonly type: 'networkInterfaces' | 'publicIPAddresses' | 'disks';
  readonly name: string;
  readonly tags: Tags;
  readonly goesAlong: boolean;
  /** Of an interface: the ids of its subnets and its security group, in small letters. */
  readonly uses?: readonly string[];
}

type Tree = Readonly<Record<string, unknown>>;

const MOST_CUSTOM_DATA = 65_535;
const MOST_TAGS = 50;
const NAME = /^[A-Za-z0-9]([\w.-]{0,62}[\w-])?$/;
const TAG = /^[^<>%&\\?/]{1,512}$/;

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);
const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((tree, key) => (isTree(tree) ? tree[key] : undefined), value);
const listAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};

function refuseUnless(isGood: unknown, code: string, message: string): void {
  if (!isGood) throw refusal(code, message, 400);
}

export function checkTags(tags: Tags): void {
  refuseUnless(Object.keys(tags).length <= MOST_TAGS, 'InvalidTagCount', `A resource has at most ${MOST_TAGS} tags.`);
  for (const [key, value] of Object.entries(tags))
    refuseUnless(TAG.test(key) && value.length <= 256, 'InvalidTagNameCharacters', `The tag '${key}' is invalid.`);
}

/** Refuses a size that is not sold there. */
export function checkPlace(location: string, size: string): void {
  const known = LOCATIONS.includes(location);
  const where = `The provided location '${location}' is not available for resource type 'Microsoft.Compute/virtualMachines'.`;
  refuseUnless(known, 'LocationNotAvailableForResourceType', where);
  const sold = SIZES.find(({ name }) => name.toLowerCase() === size.toLowerCase());
  refuseUnless(sold, 'InvalidParameter', `The value ${size} provided for the VM size is not valid.`);
  if (!sold?.locations.includes(location))
    throw refusal(
      'SkuNotAvailable',
      `The requested VM size '${size}' is not available in location '${location}'.`,
      409,
    );
}

/** The name of an image of the marketplace tells what it is for. */
function checkImage(size: string, image: unknown): void {
  const { architecture = 'x64', generations = 'V1,V2' } = SIZES.find((one) => one.name === size) ?? {};
  const sku = String(at(image, 'sku') ?? '');
  if (sku === '') return;
  const has = /arm64/i.test(sku) ? 'Arm64' : 'x64';
  refuseUnless(
    has === architecture,
    'BadRequest',
    `Cannot create a VM of size '${size}' because this VM size only supports a CPU Architecture of '${architecture}', but an image or disk given has CPU Architecture '${has}'.`,
  );
  const generation = /gen1/i.test(sku) ? 'V1' : 'V2';
  refuseUnless(
    generations.includes(generation),
    'BadRequest',
    `The selected VM size '${size}' cannot boot Hypervisor Generation '${generation.slice(1)}'.`,
  );
}

function networkParts(properties: Tree, tags: Tags): WantedPart[] {
  const inline = listAt(properties, 'networkProfile', 'networkInterfaceConfigurations');
  const given = listAt(properties, 'networkProfile', 'networkInterfaces');
  refuseUnless(inline.length + given.length > 0, 'InvalidParameter', 'Required parameter networkProfile is missing.');
  const version = at(properties, 'networkProfile', 'networkApiVersion');
  refuseUnless(inline.length === 0 || version === '2022-11-01', 'InvalidParameter', 'networkApiVersion is missing.');
  return inline.flatMap((one): WantedPart[] => {
    const interfaceTags = (at(one, 'tags') ?? {}) as Tags;
    const ips = listAt(one, 'properties', 'ipConfigurations');
    refuseUnless(ips.length > 0, 'InvalidParameter', 'An interface needs an IP configuration.');
    const addresses = ips.flatMap((ip): WantedPart[] => {
      refuseUnless(at(ip, 'properties', 'subnet', 'id'), 'InvalidParameter', 'An IP configuration needs a subnet.');
      const address = at(ip, 'properties', 'publicIPAddressConfiguration');
      if (!address) return [];
      const isStatic = at(address, 'properties', 'publicIPAllocationMethod') === 'Static';
      refuseUnless(isStatic, 'InvalidParameter', 'Public addresses of the SKU Standard must be allocated statically.');
      const goesAlong = at(address, 'properties', 'deleteOption') === 'Delete';
      const own = (at(address, 'tags') ?? {}) as Tags;
      return [{ type: 'publicIPAddresses', name: String(at(address, 'name')), tags: own, goesAlong }];
    });
    const goesAlong = at(one, 'properties', 'deleteOption') === 'Delete';
    checkTags({ ...tags, ...interfaceTags });
    const subnets = ips.map((ip) => at(ip, 'properties', 'subnet', 'id'));
    const uses = [...subnets, at(one, 'properties', 'networkSecurityGroup', 'id')].flatMap((id) =>
      typeof id === 'string' ? [id.toLowerCase()] : [],
    );
    const own = { name: String(at(one, 'name')), tags: interfaceTags, goesAlong, uses };
    return [{ type: 'networkInterfaces', ...own }, ...addresses];
  });
}

/** Refuses what Azure refuses, in its words. */
export function checkCreation(name: string, body: Tree): WantedVm {
  const { location = '', zones, tags = {} } = body as { location?: string; zones?: string[]; tags?: Tags };
  const properties = isTree(body.properties) ? body.properties : {};
  refuseUnless(NAME.test(name), 'InvalidResourceName', `The resource name '${name}' is not valid.`);
  const size = String(at(properties, 'hardwareProfile', 'vmSize') ?? '');
  checkPlace(location, size);
  checkTags(tags);
  const { customData = '', adminPassword, ...osProfile } = (properties.osProfile ?? {}) as Record<string, string>;
  const keys = listAt(osProfile, 'linuxConfiguration', 'ssh', 'publicKeys');
  refuseUnless(osProfile.adminUsername, 'InvalidParameter', 'Required parameter adminUsername is missing (null).');
  refuseUnless(keys.length > 0 || adminPassword, 'InvalidParameter', 'Authentication using SSH needs a public key.');
  const length = Buffer.from(customData, 'base64').byteLength;
  refuseUnless(
    length <= MOST_CUSTOM_DATA,
    'InvalidParameter',
    `Custom data has ${length} bytes, at most ${MOST_CUSTOM_DATA}.`,
  );
  const osDisk = at(properties, 'storageProfile', 'osDisk');
  const disks = [osDisk, ...listAt(properties, 'storageProfile', 'dataDisks')].map((disk, place): WantedPart => {
    const usual = place === 0 ? `${name}_OsDisk_1` : `${name}_DataDisk_${place - 1}`;
    // A disk that is made along with its machine bears the same tags.
    return {
      ...{ type: 'disks', name: String(at(disk, 'name') ?? usual), tags },
      goesAlong: at(disk, 'deleteOption') === 'Delete',
    };
  });
  refuseUnless(
    at(properties, 'storageProfile', 'imageReference'),
    'InvalidParameter',
    'Required parameter imageReference is missing.',
  );
  checkImage(size, at(properties, 'storageProfile', 'imageReference'));
  return {
    location,
    zones,
    tags,
    size,
    set: at(properties, 'virtualMachineScaleSet', 'id') as string | undefined,
    isSpot: properties.priority === 'Spot',
    customData,
    plan: body.plan,
    // Azure never shows what may be secret.
    properties: { ...properties, osProfile },
    parts: [...networkParts(properties, tags), ...disks],
  };
}
