import { refusal } from '#fakes/refusal.ts';
import type { InstanceType } from '../region.ts';
import { textAt, textsAt } from '../wire/params.ts';
import type { Xml } from '../wire/xml.ts';
import type { Ask } from '../world.ts';
import { ec2Page, readPageSize } from './describe-instances.ts';
import { filterOf } from './filters.ts';

interface Offering {
  readonly type: string;
  readonly location: string;
}

const LOCATION_TYPES = ['region', 'availability-zone', 'availability-zone-id'];

/** `us-west-2a` is called `usw2-az1` by the id of its zone. */
function zoneId(zone: string): string {
  const [, area, side, number, letter] = /^(\w+)-(\w+)-(\d)([a-z])$/.exec(zone) ?? [];
  if (!area || !side || !letter) return zone;
  const short = side.replace(/(north|south|east|west|central)/g, (word) => word[0] as string);
  return `${area}${short}${number}-az${letter.charCodeAt(0) - 96}`;
}

export function describeInstanceTypeOfferings(ask: Ask): Readonly<Record<string, Xml>> {
  const { region, params } = ask;
  const kind = textAt(params, 'LocationType') ?? 'region';
  if (!LOCATION_TYPES.includes(kind)) {
    throw refusal('InvalidParameterValue', `Value (${kind}) for parameter locationType is invalid.`);
  }
  const located = (zones: readonly string[]): readonly string[] => {
    if (kind === 'region') return zones.length > 0 ? [region.name] : [];
    return kind === 'availability-zone' ? zones : zones.map(zoneId);
  };
  const passes = filterOf<Offering>(
    params,
    ({ type, location }, name) => [name === 'location' ? location : type],
    new Set(['location', 'instance-type']),
  );
  const keyOf = ({ type, location }: Offering): string => `${type} ${location}`;
  const offerings = [...region.offerings]
    .flatMap(([type, zones]) => located(zones).map((location) => ({ type, location })))
    .filter(passes)
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const size = readPageSize(ask, { least: 5, most: 1_000 });
  const { items, token } = ec2Page(ask, offerings, { size, keyOf });
  return {
    instanceTypeOfferingSet: items.map(({ type, location }) => ({ instanceType: type, locationType: kind, location })),
    nextToken: token,
  };
}

function typeXml({ name, vcpus, memoryMib, architecture, gpus }: InstanceType): Xml {
  return {
    instanceType: name,
    currentGeneration: true,
    vCpuInfo: { defaultVCpus: vcpus },
    memoryInfo: { sizeInMiB: memoryMib },
    processorInfo: { supportedArchitectures: [architecture] },
    supportedUsageClasses: ['on-demand', 'spot'],
    gpuInfo: gpus && {
      gpus: [
        { name: gpus.name, manufacturer: gpus.maker, count: gpus.count, memoryInfo: { sizeInMiB: gpus.memoryMib } },
      ],
      totalGpuMemoryInMiB: gpus.count * gpus.memoryMib,
    },
  };
}

export function describeInstanceTypes(ask: Ask): Readonly<Record<string, Xml>> {
  const { region, params } = ask;
  const names = textsAt(params, 'InstanceType');
  const unknown = names.filter((name) => !region.types.has(name));
  if (unknown.length > 0) {
    throw refusal('InvalidInstanceType', `The following supplied instance types do not exist: [${unknown.join(', ')}]`);
  }
  const passes = filterOf<InstanceType>(
    params,
    (type, name) => [name === 'instance-type' ? type.name : type.architecture],
    new Set(['instance-type', 'processor-info.supported-architecture']),
  );
  const types = [...region.types.values()]
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .filter(({ name }) => (region.offerings.get(name) ?? []).length > 0)
    .filter(passes)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const size = readPageSize(ask, { least: 5, most: 100 });
  const { items, token } = ec2Page(ask, types, { size, keyOf: ({ name }) => name });
  return { instanceTypeSet: items.map(typeXml), nextToken: token };
}
