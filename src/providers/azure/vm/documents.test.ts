import { describe, expect, it } from 'vitest';
import { offerShapes } from '#config/offers.ts';
import { readPool } from '#config/pool-document.ts';
import { GPU, SET } from '../fake/testing.ts';
import provider from '../index.ts';

const kinds = provider.backends;

function read(backend: object, trust: 'foreign' | 'operator' = 'foreign') {
  const text = JSON.stringify({ name: 'a', auto_scaler: { backend } });
  const { spec, problems = [] } = readPool(text, { kinds, trust });
  return { offer: spec?.offers[0], problems: problems.map(({ path, message }) => `${path}: ${message}`).join('\n') };
}

const vm = (more: object, trust?: 'foreign' | 'operator') => read({ azure_vm: { ...GPU, ...more } }, trust);
const IDENTITY =
  '/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/sessions';

describe('what a document may say of machines', () => {
  it('is taken with the names of the original for a scale set, and with nothing else needed', () => {
    const set = { resource_group: 'velda', vmss_name: SET };
    expect(read({ azure_vmss: set }).problems).toBe('');
    expect(read({ azure_vmss: { resourceGroup: 'velda', vmssName: SET } }).problems).toBe('');
  });

  it.each([
    { image: 'Canonical:ubuntu-24_04-lts:server:latest' },
    { image: '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/agent' },
    { image: '/CommunityGalleries/g/Images/i/Versions/latest' },
    { zone: '2', disk_size_gb: 128, disk_type: 'Premium_LRS' },
    { market: 'spot', spot_max_price: 0.25 },
    { ssh_public_key: 'ssh-ed25519 AAAA me@home', tags: { 'cost center': 'ml' } },
  ])('%j is good', (more) => {
    expect(vm(more).problems).toBe('');
  });

  it.each([
    [{ tags: { 'team/a': 'b' } }, 'azure_vm.tags["team/a"]: is no tag: Azure takes no <, >, %, &, \\, ? and /'],
    [{ tags: { 'muster-pool': 'x' } }, 'azure_vm.tags.muster-pool: must not begin with muster-'],
    [{ tags: { team: 'x'.repeat(257) } }, 'azure_vm.tags.team: must have at most 256 characters'],
    [{ market: 'spot', spot_max_price: '$4.50' }, 'azure_vm.spot_max_price: must be a number: dollars an hour'],
    [{ spot_max_price: 0.25 }, 'azure_vm.spot_max_price: has no effect without market: spot'],
    [{ endpoint: 'https://evil.example' }, "azure_vm.endpoint: endpoint may be set only in the operator's own file"],
    [
      { identity_ids: [IDENTITY] },
      "azure_vm.identity_ids: identity_ids may be set only in the operator's own file: it decides which rights the machines have",
    ],
    [{ image: 'ubuntu' }, 'azure_vm.image: must be Publisher:Offer:Sku:Version, or the id of an image'],
    [{ subnet_id: 'agents' }, 'azure_vm.subnet_id: must be the id of a subnet'],
    [{ subscription_id: 'mine' }, 'azure_vm.subscription_id: must be the id of a subscription'],
    [{ vmsize: 'x' }, 'vm_size'],
  ])('%j is refused', (more, why) => {
    expect(vm(more).problems).toContain(why);
  });

  it('an identity and an address are the operator’s to give', () => {
    expect(vm({ identity_ids: [IDENTITY], endpoint: 'https://management.azure.com' }, 'operator').problems).toBe('');
  });
});

it('another address forms no other machines, another size does', () => {
  const shapeOf = (more: object) => {
    const { offer } = vm(more, 'operator');
    return offer && offerShapes(kinds)(offer);
  };
  const plain = shapeOf({});

  expect(shapeOf({ endpoint: 'https://management.azure.com' })).toBe(plain);
  expect(shapeOf({ vm_size: 'Standard_D4s_v5' })).not.toBe(plain);
  expect(shapeOf({ location: 'West Europe' })).toBe(plain);
});
