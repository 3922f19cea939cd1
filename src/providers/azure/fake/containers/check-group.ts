import { type Refusal, refusal } from '#fakes/refusal.ts';
import { checkTags } from '../compute/check-creation.ts';
import type { Tags } from '../compute/machine.ts';
import type { References } from '../compute/references.ts';
import { LOCATIONS } from '../compute/seed-data.ts';
import type { Containers, WantedGroup } from './groups.ts';
import { registryOf } from './images.ts';

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly secureValue?: string;
}

/** The request has the form of the definition by now. */
interface GroupBody {
  readonly location?: string;
  readonly tags?: Tags;
  readonly properties: {
    readonly osType: string;
    readonly restartPolicy?: string;
    readonly containers: readonly {
      readonly name: string;
      readonly properties: {
        readonly image: string;
        readonly ports?: readonly { readonly port: number }[];
        readonly environmentVariables?: readonly Variable[];
        readonly resources: { readonly requests: { readonly cpu: number; readonly memoryInGB: number } };
        readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
      };
    }[];
    readonly volumes?: readonly { readonly name: string; readonly secret?: Readonly<Record<string, string>> }[];
    readonly imageRegistryCredentials?: readonly {
      readonly server: string;
      readonly username?: string;
      readonly password?: string;
    }[];
    readonly ipAddress?: { readonly type: string; readonly ports: readonly { readonly port: number }[] };
    readonly subnetIds?: readonly { readonly id: string }[];
  };
}

const TYPE = 'Microsoft.ContainerInstance/containerGroups';
// learn.microsoft.com/azure/container-instances/container-instances-container-groups and …-resource-and-quota-limits.
const NAME = /^(?!.*--)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const [MOST_CORES, MOST_MEMORY_GB] = [4, 16];
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function refuseUnless(isGood: unknown, code: string, message: string, status?: number): void {
  if (!isGood) throw refusal(code, message, status);
}

function checkImage(name: string, body: GroupBody, { images }: Containers): void {
  const { containers, imageRegistryCredentials = [] } = body.properties;
  for (const { properties } of containers) {
    const { image } = properties;
    const wanted = images.get(image);
    const given = imageRegistryCredentials.find(({ server }) => server === registryOf(image));
    const isOpen = wanted === undefined || (given?.username === wanted.username && given.password === wanted.password);
    const words = `The image '${image}' in container group '${name}' is not accessible. Please check the image and registry credential.`;
    refuseUnless(images.has(image) && isOpen, 'InaccessibleImage', words);
  }
}

function checkAddress(name: string, { properties, location }: GroupBody, { network }: References): void {
  const { ipAddress, subnetIds = [], containers } = properties;
  const open = containers.flatMap((one) => (one.properties.ports ?? []).map(({ port }) => port));
  for (const { port } of ipAddress?.ports ?? []) {
    const words = `The port '${port}' of the IP address of container group '${name}' is exposed by no container.`;
    refuseUnless(open.includes(port), 'InvalidIPAddressPorts', words);
  }
  for (const { id } of subnetIds)
    refuseUnless(network.get(id.toLowerCase()) === location, 'InvalidSubnetId', `The subnet '${id}' was not found.`);
  if (ipAddress && subnetIds.length > 0)
    refuseUnless(
      ipAddress.type === 'Private',
      'InvalidIPAddressTypeForNetworkProfile',
      `IP Address type in container group '${name}' is invalid when subnet ids are set. Its value should be 'Private'.`,
    );
}

/** What its secret volumes hold, by the path in the container. */
function filesIn({ properties: { containers, volumes = [] } }: GroupBody): Map<string, string> {
  const files = new Map<string, string>();
  for (const { name, mountPath } of containers.flatMap((one) => one.properties.volumeMounts ?? [])) {
    const volume = volumes.find((one) => one.name === name);
    refuseUnless(
      volume,
      'VolumeMountNotFound',
      `The volume '${name}' that is mounted at '${mountPath}' is not defined.`,
    );
    for (const [key, value] of Object.entries(volume?.secret ?? {})) {
      refuseUnless(BASE64.test(value), 'InvalidSecretVolume', `The value of '${key}' is not in Base64.`);
      files.set(`${mountPath}/${key}`, Buffer.from(value, 'base64').toString());
    }
  }
  return files;
}

/** No answer shows a secure value, a password or the contents of a secret volume. */
function withoutSecrets({ properties }: GroupBody): Readonly<Record<string, unknown>> {
  const { containers, volumes = [], imageRegistryCredentials = [] } = properties;
  return {
    ...properties,
    containers: containers.map(({ name, properties: { environmentVariables = [], ...rest } }) => ({
      name,
      properties: {
        ...rest,
        environmentVariables: environmentVariables.map(({ secureValue: _secret, ...shown }) => shown),
      },
    })),
    volumes: volumes.map(({ secret, ...rest }) => ({ ...rest, ...(secret && { secret: {} }) })),
    imageRegistryCredentials: imageRegistryCredentials.map(({ password: _secret, ...shown }) => shown),
  };
}

const quotaReached = (location: string, { limit, used, wanted }: Readonly<Record<string, number>>): Refusal =>
  refusal(
    'ContainerGroupQuotaReached',
    `Resource type '${TYPE}' container group quota 'StandardCores' exceeded in region '${location}'. Limit: '${limit}', Usage: '${used}' Requested: '${wanted}'.`,
  );

/** Refuses what Azure refuses, in its words. */
export function checkGroupCreation(
  name: string,
  given: Readonly<Record<string, unknown>>,
  { containers: world, references }: { readonly containers: Containers; readonly references: References },
): WantedGroup {
  const body = given as unknown as GroupBody;
  const { location = '', tags = {}, properties } = body;
  const { containers, osType, ipAddress } = properties;
  refuseUnless(NAME.test(name), 'InvalidContainerGroupName', `The container group name '${name}' is invalid.`);
  const where = `The provided location '${location}' is not available for resource type '${TYPE}'.`;
  refuseUnless(LOCATIONS.includes(location), 'LocationNotAvailableForResourceType', where);
  checkTags(tags);
  refuseUnless(containers.length > 0, 'MissingContainers', `The container group '${name}' has no containers.`);
  for (const one of containers)
    refuseUnless(NAME.test(one.name), 'InvalidContainerName', `The container name '${one.name}' is invalid.`);
  checkAddress(name, body, references);
  checkImage(name, body, world);
  const files = filesIn(body);
  const cores = containers.reduce((sum, one) => sum + one.properties.resources.requests.cpu, 0);
  const memory = containers.reduce((sum, one) => sum + one.properties.resources.requests.memoryInGB, 0);
  const { cores: limit } = world.settings;
  const used = world.coresIn(location);
  if (used + cores > limit) throw quotaReached(location, { limit, used, wanted: cores });
  const isRoom = !world.full.has(location) && cores <= MOST_CORES && memory <= MOST_MEMORY_GB;
  const words = `The requested resource is not available in the location '${location}' at this moment. Please retry with a different resource request or in another location. Resource requested: '${cores}' CPU '${memory}' GB memory '${osType}' OS`;
  refuseUnless(isRoom, 'ServiceUnavailable', words, 409);
  return {
    ...{ location, tags, cores, files, container: containers[0]?.name ?? '' },
    properties: withoutSecrets(body),
    isPublic: ipAddress?.type === 'Public',
  };
}
