import { describe, expect, it } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openFakeDigitalOcean } from './cloud.ts';
import { definition } from './definition.gen.ts';
import { ACTIONS } from './wire.ts';

const DROPLET = { names: ['one'], region: 'atl1', size: 'c-4', image: 'ubuntu-24-04-x64', ssh_keys: [7] };

async function ask(method: string, path: string, body?: object, token = 'dop_v1_planted') {
  const fake = openFakeDigitalOcean({ clock: new VirtualClock() });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const answer = await fake.fetch(`https://api.digitalocean.com/v2${path}`, init);
  return { status: answer.status, body: (await answer.json()) as { readonly message?: string } };
}

describe('the fake DigitalOcean', () => {
  it('takes a creation that fits the definition, and shows what it refers to', async () => {
    const vpc_uuid = '5a4981aa-9653-4bd1-bef5-d6bff5204215';

    expect(await ask('POST', '/droplets', { ...DROPLET, vpc_uuid })).toMatchObject({
      status: 202,
      body: { droplets: [{ name: 'one', vpc_uuid, image: { id: 203, slug: 'ubuntu-24-04-x64' } }] },
    });
  });

  it.each([
    ['without a name', { names: undefined }, "Name can't be blank"],
    ['without an image', { image: undefined }, 'You specified an invalid image for Droplet creation.'],
    ['with an unknown field', { vpcuuid: 'x' }, 'vpcuuid is not a known parameter.'],
    ['with a text for a boolean', { ipv6: 'yes' }, 'ipv6 is invalid.'],
    ['with tags as a map', { tags: { a: 'b' } }, 'tags is invalid.'],
    ['with a bad name', { names: ['a_b'] }, 'Only valid hostname characters are allowed. (a-z, A-Z, 0-9, . and -)'],
    ['of an unknown image', { image: 'ubuntu-4' }, 'You specified an invalid image for Droplet creation.'],
    ['of an unknown snapshot', { image: 43 }, 'You specified an invalid image for Droplet creation.'],
    ['of an unknown size', { size: 'c-5' }, 'You specified an invalid size for Droplet creation.'],
    ['in an unknown region', { region: 'atl9' }, 'You specified an invalid region for Droplet creation.'],
    [
      'with unknown SSH keys',
      { ssh_keys: [7, 8, 'ab:cd'] },
      '8, ab:cd are invalid key identifiers for Droplet creation.',
    ],
    [
      'in an unknown VPC',
      { vpc_uuid: '5a4981aa-9653-4bd1-bef5-000000000000' },
      'You specified invalid VPC parameters for Droplet creation.',
    ],
    [
      'in the VPC of another region',
      { vpc_uuid: '5a4981aa-9653-4bd1-bef5-d6bff5204210' },
      'You specified invalid VPC parameters for Droplet creation.',
    ],
  ])('refuses a creation %s', async (_what, more, message) => {
    expect(await ask('POST', '/droplets', { ...DROPLET, ...more })).toEqual({
      status: 422,
      body: expect.objectContaining({ id: 'unprocessable_entity', message }),
    });
  });

  it.each([
    ['a token that it does not know', 'GET', '/droplets', 'dop_v1_other', 401],
    ['no token', 'GET', '/droplets', '', 401],
    ['an unknown kind of droplets', 'GET', '/droplets?type=cpus', 'dop_v1_planted', 400],
    ['an unknown filter', 'GET', '/droplets?tag=x', 'dop_v1_planted', 400],
    ['a page that is no number', 'GET', '/droplets?page=two', 'dop_v1_planted', 400],
    ['a deletion of all droplets', 'DELETE', '/droplets', 'dop_v1_planted', 400],
    ['a droplet that is not there', 'GET', '/droplets/9', 'dop_v1_planted', 404],
  ])('refuses %s', async (_what, method, path, token, status) => {
    expect((await ask(method, path, undefined, token)).status).toBe(status);
  });

  it.each([
    ['a tag with a dot', '/tags', { name: 'a.b' }],
    ['tagging what has no type', '/tags/x/resources', { resources: [{ resource_id: '1', resource_type: 'machine' }] }],
    ['tagging by a number', '/tags/x/resources', { resources: [{ resource_id: 1, resource_type: 'droplet' }] }],
  ])('refuses %s', async (_what, path, body) => {
    expect((await ask('POST', path, body)).status).toBe(422);
  });

  it('has a definition of every action', () => {
    expect(ACTIONS.filter((action) => !(action in definition.methods))).toEqual([]);
  });
});
