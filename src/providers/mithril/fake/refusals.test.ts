import { describe, expect, it } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openFakeMithril } from './cloud.ts';
import { definition } from './definition.gen.ts';
import { ACTIONS } from './wire.ts';

const LAUNCH = { volumes: [], ssh_keys: ['key_xyz'] };
const BID = {
  project: 'proj_abc123',
  region: 'us-west-2',
  instance_type: 'it_8xh1001',
  limit_price: '$4.50',
  instance_quantity: 1,
  name: 'one',
  launch_specification: LAUNCH,
};

async function ask(method: string, path: string, body?: object, token = 'fkey_planted') {
  const fake = openFakeMithril({ clock: new VirtualClock() });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const answer = await fake.fetch(`https://api.mithril.ai/v2${path}`, init);
  return { status: answer.status, body: (await answer.json()) as { detail?: unknown } };
}

describe('the fake Mithril', () => {
  it('takes a bid that fits the definition', async () => {
    expect(await ask('POST', '/spot/bids', BID)).toMatchObject({
      status: 201,
      body: { limit_price: '$4.50', launch_specification: LAUNCH, created_by: 'user_one' },
    });
  });

  it.each([
    ['without a name', { name: undefined }, ['body', 'name'], 'Field required'],
    ['with an unknown field', { lables: {} }, ['body', 'lables'], 'Extra inputs are not permitted'],
    ['with a price as a number', { limit_price: 4.5 }, ['body', 'limit_price'], 'Input should be a valid string'],
    ['with a price without dollars', { limit_price: '4.5' }, ['body', 'limit_price'], 'price like $25.60'],
    ['of half an instance', { instance_quantity: 0.5 }, ['body', 'instance_quantity'], 'valid integer'],
    [
      'with an unknown field of its launch',
      { launch_specification: { ...LAUNCH, startupscript: 'x' } },
      ['body', 'launch_specification', 'startupscript'],
      'Extra inputs are not permitted',
    ],
    ['of an unknown type', { instance_type: 'it_none' }, ['body', 'instance_type'], 'Instance type not found'],
    ['in an unknown region', { region: 'us-west-9' }, ['body', 'region'], 'not in this region'],
    [
      'with an unknown SSH key',
      { launch_specification: { volumes: [], ssh_keys: ['key_xyz', 'key_none'] } },
      ['body', 'launch_specification', 'ssh_keys', 1],
      'SSH key key_none not found',
    ],
    [
      'with an unknown volume',
      { launch_specification: { volumes: ['vol_none'], ssh_keys: [] } },
      ['body', 'launch_specification', 'volumes', 0],
      'Volume vol_none not found',
    ],
  ])('refuses a bid %s with 422, and names the field', async (_what, more, loc, msg) => {
    const { status, body } = await ask('POST', '/spot/bids', { ...BID, ...more });

    expect([status, body.detail]).toEqual([422, [expect.objectContaining({ loc, msg: expect.stringContaining(msg) })]]);
  });

  it.each([
    ['a token that it does not know', 'GET', '/spot/bids?project=proj_abc123', 'fkey_other', 401],
    ['a bid in an unknown project', 'POST', '/spot/bids', 'fkey_planted', 403],
    ['the listing of an unknown project', 'GET', '/spot/bids?project=proj_none', 'fkey_planted', 403],
    ['instances without a project', 'GET', '/instances', 'fkey_planted', 422],
    ['a status that bids do not have', 'GET', '/spot/bids?status=Running', 'fkey_planted', 422],
    ['a limit that is no number', 'GET', '/spot/bids?limit=all', 'fkey_planted', 422],
    ['the price of an unknown type', 'GET', '/pricing/current?instance_type=it_none', 'fkey_planted', 404],
    ['a bid that is not there', 'GET', '/spot/bids/bid_00000009', 'fkey_planted', 404],
  ])('refuses %s', async (_what, method, path, token, status) => {
    const body = method === 'POST' ? { ...BID, project: 'proj_none' } : undefined;

    expect((await ask(method, path, body, token)).status).toBe(status);
  });

  it('has a definition of every action', () => {
    expect(ACTIONS.filter((action) => !(action in definition.methods))).toEqual([]);
  });
});

it('a bid below the spot price stays open, as in the auction of Mithril', async () => {
  const clock = new VirtualClock();
  const fake = openFakeMithril({ clock });
  const headers = { authorization: 'Bearer fkey_planted', 'content-type': 'application/json' };
  const body = JSON.stringify({ ...BID, limit_price: '$3.99' });
  const made = await fake.fetch('https://api.mithril.ai/v2/spot/bids', { method: 'POST', headers, body });
  await clock.advance(600_000);
  const { fid } = (await made.json()) as { fid: string };
  const seen = await fake.fetch(`https://api.mithril.ai/v2/spot/bids/${fid}`, { headers });

  expect(await seen.json()).toMatchObject({ status: 'Open', instances: [] });
});
