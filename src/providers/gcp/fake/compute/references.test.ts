import { expect, it } from 'vitest';
import { API, ask, bulkOf, ZONE_URL } from '../testing.ts';

const BULK = `${ZONE_URL}/instances/bulkInsert`;
const inNetwork = (...networkInterfaces: object[]): object => bulkOf({ networkInterfaces });
const field = 'resource.instanceProperties';

it.each([
  ['a network by its name alone', inNetwork({ network: 'global/networks/default' })],
  ['a network by its URL', inNetwork({ network: `${API.replace('compute.', 'www.')}/global/networks/default` })],
  ['a subnetwork', inNetwork({ subnetwork: 'regions/us-central1/subnetworks/private' })],
  ['a service account', bulkOf({ serviceAccounts: [{ email: 'workers@my-project.iam.gserviceaccount.com' }] })],
])('the fake Compute Engine accepts %s that exists', async (_what, body) => {
  expect(await ask(BULK, body)).toEqual([200, '', '']);
});

it.each([
  [
    'an unknown network',
    inNetwork({ network: 'global/networks/nowhere' }),
    `Invalid value for field '${field}.networkInterfaces[0].network': 'global/networks/nowhere'. The referenced network resource cannot be found.`,
  ],
  [
    'a network of another project',
    inNetwork({ network: 'projects/other/global/networks/default' }),
    `Invalid value for field '${field}.networkInterfaces[0].network': 'projects/other/global/networks/default'. The referenced network resource cannot be found.`,
  ],
  [
    'a network without its subnetwork',
    inNetwork({ network: 'global/networks/velda-network' }),
    `Invalid value for field '${field}.networkInterfaces[0]': ''. Subnetwork should be specified for custom subnetmode network`,
  ],
  [
    'an unknown subnetwork',
    inNetwork({ subnetwork: 'regions/us-east1/subnetworks/private' }),
    `Invalid value for field '${field}.networkInterfaces[0].subnetwork': 'regions/us-east1/subnetworks/private'. The referenced subnetwork resource cannot be found.`,
  ],
  [
    'no network at all',
    inNetwork(),
    `Invalid value for field '${field}.networkInterfaces': ''. At least one network interface is required.`,
  ],
  [
    'an unknown type of disk',
    bulkOf({
      disks: [
        {
          boot: true,
          initializeParams: {
            sourceImage: 'projects/debian-cloud/global/images/family/debian-12',
            diskType: 'pd-fast',
          },
        },
      ],
    }),
    `Invalid value for field '${field}.disks[0].initializeParams.diskType': 'pd-fast'. The referenced diskType resource cannot be found.`,
  ],
  [
    'an unknown type of GPU',
    bulkOf({ guestAccelerators: [{ acceleratorType: 'nvidia-tesla-t5', acceleratorCount: 1 }] }),
    `Invalid value for field '${field}.guestAccelerators[0].acceleratorType': 'nvidia-tesla-t5'. The referenced acceleratorType resource cannot be found.`,
  ],
])('the fake Compute Engine refuses %s', async (_what, body, message) => {
  expect(await ask(BULK, body)).toEqual([400, 'invalid', message]);
});

it('the fake Compute Engine refuses an unknown service account', async () => {
  const body = bulkOf({ serviceAccounts: [{ email: 'nobody@my-project.iam.gserviceaccount.com' }] });

  expect(await ask(BULK, body)).toEqual([
    400,
    'externalResourceNotFound',
    "The resource 'nobody@my-project.iam.gserviceaccount.com' of type 'serviceAccount' was not found.",
  ]);
});

const EXPECTED =
  'Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.';
const CLUSTERS = 'https://container.googleapis.com/v1/projects/my-project/locations/-/clusters';

it.each([
  ['Compute Engine', `${API}/zones`, 'authError', 'required'],
  ['Kubernetes Engine', CLUSTERS, 'UNAUTHENTICATED', 'UNAUTHENTICATED'],
])('the fake %s tells a token that nobody gave from none', async (_service, url, ofWrong, ofNone) => {
  expect(await ask(url, undefined, 'ya29.made-up')).toEqual([
    401,
    ofWrong,
    `Request had invalid authentication credentials. ${EXPECTED}`,
  ]);
  expect(await ask(url, undefined, null)).toEqual([
    401,
    ofNone,
    `Request is missing required authentication credential. ${EXPECTED}`,
  ]);
});

it('the fake Cloud Storage tells a token that nobody gave from none', async () => {
  const url = 'https://storage.googleapis.com/storage/v1/b/velda-pool-configs/o';

  expect(await ask(url, undefined, 'ya29.made-up')).toEqual([401, 'authError', 'Invalid Credentials']);
  expect(await ask(url, undefined, null)).toEqual([
    401,
    'required',
    "Anonymous caller does not have storage.objects.list access to the Google Cloud Storage bucket. Permission 'storage.objects.list' denied on resource (or it may not exist).",
  ]);
});
