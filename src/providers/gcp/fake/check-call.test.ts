import { describe, expect, it } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import { methodOf } from './check-call.ts';
import { definition } from './definition.gen.ts';
import { openFakeGcp } from './fake-gcp.ts';
import { GCP_ACTIONS } from './read-call.ts';
import { API, ask, bulkOf, IMAGE, ZONE_URL } from './testing.ts';

const BULK = `${ZONE_URL}/instances/bulkInsert`;
const GROUP = `${ZONE_URL}/instanceGroupManagers/velda-workers`;
const nameOf = ({ name }: { readonly name: string }): string => name;
const REGIONAL = `${API}/regions/us-central1/instanceGroupManagers/velda-regional`;

describe('the fake Google refuses requests that its discovery documents do not have', () => {
  it.each([
    [
      'not a boolean as Python writes it',
      `${API}/aggregated/instances?includeAllScopes=True`,
      undefined,
      [200, '', ''],
    ],
    ['not a whole creation', BULK, bulkOf({}), [200, '', '']],
    [
      'an unknown field of a body',
      BULK,
      bulkOf({}, { minimum: 1 }),
      [400, 'badRequest', 'Invalid JSON payload received. Unknown name "minimum": Cannot find field.'],
    ],
    [
      'an unknown field deep in a body',
      BULK,
      bulkOf({ disks: [{ boot: true, initializeParams: { sourceImage: IMAGE, diskSize: 10 } }] }),
      [
        400,
        'badRequest',
        `Invalid JSON payload received. Unknown name "diskSize" at 'instance_properties.disks[0].initialize_params': Cannot find field.`,
      ],
    ],
    [
      'a wrong type',
      BULK,
      bulkOf({ canIpForward: 'yes' }),
      [400, 'badRequest', `Invalid value at 'instance_properties.can_ip_forward' (TYPE_BOOL), "yes"`],
    ],
    [
      'a value that an enumeration does not have',
      BULK,
      bulkOf({ scheduling: { provisioningModel: 'CHEAP' } }),
      [400, 'invalid', "Invalid value for field 'resource.instanceProperties.scheduling.provisioningModel': 'CHEAP'."],
    ],
    [
      'a key of metadata in the wrong form',
      BULK,
      bulkOf({ metadata: { items: [{ key: 'a b', value: '' }] } }),
      [
        400,
        'invalid',
        "Invalid value for field 'resource.instanceProperties.metadata.items[0].key': 'a b'. Must be a match of regex '[a-zA-Z0-9-_]{1,128}'",
      ],
    ],
    ['a creation without a body', BULK, undefined, [400, 'required', "Required field 'resource' not specified"]],
    [
      'an unknown field for a zonal group',
      `${GROUP}/createInstances`,
      { instances: [{ name: 'm-1', preservedMetadata: {} }] },
      [
        400,
        'badRequest',
        `Invalid JSON payload received. Unknown name "preservedMetadata" at 'instances[0]': Cannot find field.`,
      ],
    ],
    [
      'an unknown field for a regional group',
      `${REGIONAL}/deleteInstances`,
      { instances: [], force: true },
      [400, 'badRequest', 'Invalid JSON payload received. Unknown name "force": Cannot find field.'],
    ],
    [
      'an unknown parameter',
      `${API}/aggregated/instances?label=x`,
      undefined,
      [
        400,
        'badRequest',
        `Invalid JSON payload received. Unknown name "label": Cannot bind query parameter. Field 'label' could not be found in request message.`,
      ],
    ],
    [
      'a parameter of another method',
      `${ZONE_URL}/instances/m-1?maxResults=1`,
      undefined,
      [
        400,
        'badRequest',
        `Invalid JSON payload received. Unknown name "maxResults": Cannot bind query parameter. Field 'maxResults' could not be found in request message.`,
      ],
    ],
    [
      'text for a number',
      `${GROUP}/listManagedInstances?maxResults=all`,
      undefined,
      [400, 'badRequest', `Invalid value at 'max_results' (TYPE_UINT32), "all"`],
    ],
    [
      'an unknown parameter of Cloud Storage',
      'https://storage.googleapis.com/storage/v1/b/velda-pool-configs/o?pageSize=10',
      undefined,
      [
        400,
        'badRequest',
        `Invalid JSON payload received. Unknown name "pageSize": Cannot bind query parameter. Field 'pageSize' could not be found in request message.`,
      ],
    ],
  ])('%s', async (_what, url, body, expected) => {
    expect(await ask(url, body)).toEqual(expected);
  });
});

// Forms of OAuth and the metadata server are in no discovery document.
const UNDESCRIBED = ['oauth2', 'sts', 'metadata'];

it('the groups of a project are listed by place, as gcloud asks for them', async () => {
  const fake = openFakeGcp(new VirtualClock());
  fake.world.storage.isOpen = true;
  const answer = await fake.fetch(
    `${API}/aggregated/instanceGroupManagers?includeAllScopes=True&returnPartialSuccess=True`,
  );
  const { items } = (await answer.json()) as {
    items: Record<string, { instanceGroupManagers: { name: string }[] }>;
  };

  expect(Object.entries(items).map(([place, found]) => [place, found.instanceGroupManagers.map(nameOf)])).toEqual([
    ['regions/us-central1', ['velda-regional']],
    ['zones/us-central1-a', ['velda-spot', 'velda-workers']],
    ['zones/us-central1-b', ['velda-workers']],
  ]);
});

it('every action of the fake Google has a method of a discovery document, in zones as in regions', () => {
  const described = GCP_ACTIONS.filter(([service]) => !UNDESCRIBED.includes(service));
  const missing = described.flatMap(([service, , name]) =>
    (name.endsWith('aggregatedList') ? ['/aggregated/'] : ['/zones/z/', '/regions/r/']).flatMap((path) => {
      const method = methodOf({ action: `${service}.${name}`, path });
      return definition.methods[method] ? [] : [method];
    }),
  );

  expect(missing).toEqual([]);
});
