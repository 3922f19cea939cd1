// What the properties of an instance may refer to, and the words of Compute Engine where it does not exist.
import { refusal } from '#fakes/refusal.ts';
import { PROJECT, REGION, REGIONS } from './seed-data.ts';

/** What exists beside machines; tests change it as they go. */
export interface References {
  /** `projects/P/global/networks/N`; a custom one has subnetworks only where somebody made them. */
  readonly networks: Map<string, 'auto' | 'custom'>;
  /** By `projects/P/regions/R/subnetworks/S`: the network. */
  readonly subnetworks: Map<string, string>;
  readonly diskTypes: Set<string>;
  readonly acceleratorTypes: Set<string>;
  /** By mail address. */
  readonly serviceAccounts: Set<string>;
}

export interface Referring {
  readonly disks?: readonly { readonly initializeParams?: { readonly diskType?: string } }[];
  readonly networkInterfaces?: readonly {
    readonly network?: string;
    readonly subnetwork?: string;
    readonly accessConfigs?: readonly object[];
  }[];
  readonly serviceAccounts?: readonly { readonly email?: string }[];
  readonly guestAccelerators?: readonly { readonly acceleratorType?: string }[];
}

const DEFAULT = `projects/${PROJECT}/global/networks/default`;
const OWN = `projects/${PROJECT}/global/networks/velda-network`;

export function openReferences(): References {
  const ofDefault = REGIONS.map(
    (region) => [`projects/${PROJECT}/regions/${region}/subnetworks/default`, DEFAULT] as const,
  );
  return {
    networks: new Map([
      [DEFAULT, 'auto'],
      [OWN, 'custom'],
    ]),
    subnetworks: new Map([...ofDefault, [`projects/${PROJECT}/regions/${REGION}/subnetworks/private`, OWN]]),
    diskTypes: new Set(['pd-standard', 'pd-balanced', 'pd-ssd', 'hyperdisk-balanced']),
    acceleratorTypes: new Set(['nvidia-tesla-t4', 'nvidia-l4', 'nvidia-tesla-a100', 'nvidia-h100-80gb']),
    serviceAccounts: new Set([`workers@${PROJECT}.iam.gserviceaccount.com`, '1-compute@developer.gserviceaccount.com']),
  };
}

/** URLs, paths with their project and paths below it name the same. */
const whole = (written: string, project: string): string => {
  const path = written.replace(/^https:\/\/[^/]+\/compute\/v1\//, '');
  return path.startsWith('projects/') ? path : `projects/${project}/${path}`;
};

const absent = (field: string, value: string, why: string): Error =>
  refusal('invalid', `Invalid value for field 'resource.instanceProperties.${field}': '${value}'. ${why}`);

const missing = (field: string, value: string, type: string): Error =>
  absent(field, value, `The referenced ${type} resource cannot be found.`);

function checkNetworks(references: References, { networkInterfaces = [] }: Referring, project: string): void {
  const { networks, subnetworks } = references;
  if (networkInterfaces.length === 0)
    throw absent('networkInterfaces', '', 'At least one network interface is required.');
  for (const [at, { network, subnetwork }] of networkInterfaces.entries()) {
    const field = `networkInterfaces[${at}]`;
    const mode = network === undefined ? 'auto' : networks.get(whole(network, project));
    if (mode === undefined) throw missing(`${field}.network`, network ?? '', 'network');
    if (mode === 'custom' && subnetwork === undefined)
      throw absent(field, '', 'Subnetwork should be specified for custom subnetmode network');
    if (subnetwork !== undefined && !subnetworks.has(whole(subnetwork, project)))
      throw missing(`${field}.subnetwork`, subnetwork, 'subnetwork');
  }
}

/** Throws for the first reference to what does not exist. */
export function checkReferences(references: References, properties: Referring, project: string): void {
  checkNetworks(references, properties, project);
  const { disks = [], serviceAccounts = [], guestAccelerators = [] } = properties;
  for (const [at, { initializeParams }] of disks.entries()) {
    const { diskType } = initializeParams ?? {};
    if (diskType !== undefined && !references.diskTypes.has(diskType))
      throw missing(`disks[${at}].initializeParams.diskType`, diskType, 'diskType');
  }
  for (const [at, { acceleratorType = '' }] of guestAccelerators.entries())
    if (!references.acceleratorTypes.has(acceleratorType))
      throw missing(`guestAccelerators[${at}].acceleratorType`, acceleratorType, 'acceleratorType');
  for (const { email = '' } of serviceAccounts)
    if (!references.serviceAccounts.has(email))
      throw refusal('externalResourceNotFound', `The resource '${email}' of type 'serviceAccount' was not found.`);
}
