import { describe, expect, it } from 'vitest';
import { ask, SUBSCRIPTION_URL, VM_URL, vmBody } from './asking.ts';
import { methodOf } from './check-call.ts';
import { definition } from './definition.gen.ts';
import { AZURE_ACTIONS } from './read-call.ts';

describe('the fake Azure refuses requests that the models of its clients do not have', () => {
  it.each([
    ['a whole creation', vmBody(), [201, '', '']],
    [
      'an unknown field of the resource',
      { ...vmBody(), zone: '1' },
      [
        400,
        'InvalidRequestContent',
        expect.stringMatching(
          /^The request content was invalid and could not be deserialized: 'Could not find member 'zone' on object of type 'ResourceDefinition'\. Path 'zone', line 1, position \d+\.'\.$/,
        ),
      ],
    ],
    [
      'an unknown field of the properties',
      vmBody({ storageProfile: { osDisk: { createOption: 'FromImage', deletePolicy: 'Delete' } } }),
      [
        400,
        'BadRequest',
        expect.stringMatching(
          /^Could not find member 'deletePolicy' on object of type 'OsDisk'\. Path 'properties.storageProfile.osDisk.deletePolicy', line 1, position \d+\.$/,
        ),
      ],
    ],
    [
      'a wrong type',
      vmBody({ osProfile: { linuxConfiguration: { disablePasswordAuthentication: 'yes' } } }),
      [
        400,
        'BadRequest',
        expect.stringContaining('Error converting value "yes" to type \'System.Nullable`1[System.Boolean]\''),
      ],
    ],
    [
      'a value that an enumeration does not have',
      vmBody({ evictionPolicy: 'Stop' }),
      [
        400,
        'InvalidParameter',
        "The value 'Stop' of parameter 'evictionPolicy' is not allowed. Allowed values are 'Deallocate,Delete'.",
      ],
    ],
    [
      'a field that is missing',
      vmBody({ storageProfile: { osDisk: {} } }),
      [400, 'InvalidParameter', "Required parameter 'createOption' is missing (null)."],
    ],
    [
      'a resource without its location',
      { properties: {} },
      [400, 'LocationRequired', 'The location property is required for this definition.'],
    ],
  ])('%s', async (_what, body, expected) => {
    expect(await ask(VM_URL, { method: 'PUT', body })).toEqual(expected);
  });

  it.each([
    ['GET', `${VM_URL}?include=instanceView`, 'include'],
    ['DELETE', `${VM_URL}?force=true`, 'force'],
    ['DELETE', `${VM_URL}?forceDeletion=perhaps`, 'forceDeletion'],
    ['GET', `${SUBSCRIPTION_URL}/providers/Microsoft.Compute/skus?filter=x`, 'filter'],
  ])('a parameter that the operation does not have: %s %s', async (method, url, name) => {
    expect(await ask(url, { method })).toEqual([
      400,
      'InvalidParameter',
      `The value of query parameter '${name}' is not allowed.`,
    ]);
  });

  it('a parameter that App Configuration does not have', async () => {
    expect(await ask('https://velda-pools.azconfig.io/kv?prefix=pools/', {})).toEqual([
      400,
      "Invalid request parameter 'prefix'",
      'prefix: The value or the name is not valid.',
    ]);
  });
});

// Tokens are forms, prices and operations under way are in no model.
const UNDESCRIBED = ['token', 'list', 'operation'];

it('every action of the fake Azure has a method of its definition', () => {
  const types = ['networkInterfaces', 'publicIPAddresses', 'disks', 'virtualNetworks', 'networkSecurityGroups'];
  const missing = AZURE_ACTIONS.flatMap(([service, pattern, name]) =>
    types.flatMap((type) => {
      if (name.startsWith('part') && !pattern.source.includes(type)) return [];
      const method = methodOf({ action: `${service}.${name}`, path: `/x/${type}` });
      return definition.methods[method] || UNDESCRIBED.includes(name) ? [] : [method];
    }),
  );

  expect(missing).toEqual([]);
});
