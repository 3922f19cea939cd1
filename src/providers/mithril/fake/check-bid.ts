import { Fault } from '#core/fault.ts';
import type { Refusal } from '#fakes/refusal.ts';
import type { FakeBid } from './bid.ts';
import { TYPES } from './seed-data.ts';

type Wanted = Pick<FakeBid, 'project' | 'name' | 'region' | 'instanceType' | 'limitPrice' | 'script'>;

const PRICE = /^\$\d+\.\d{2}$/;
const UNPROCESSABLE = 422;

/** A refusal that names the field. */
function wrong(field: string, message: string): Refusal {
  return Object.assign(new Fault('invalid', message, { at: field }), { code: 'validation', status: UNPROCESSABLE });
}

function textIn(body: Readonly<Record<string, unknown>>, field: string): string {
  const value = body[field];
  if (typeof value !== 'string' || value === '') throw wrong(field, 'Field required');
  return value;
}

/** Refuses what Mithril's description forbids. */
export function checkBid(body: Readonly<Record<string, unknown>>): Wanted {
  const [project, name, region] = [textIn(body, 'project'), textIn(body, 'name'), textIn(body, 'region')];
  const [instanceType, limitPrice] = [textIn(body, 'instance_type'), textIn(body, 'limit_price')];
  const type = TYPES.find(({ fid }) => fid === instanceType);
  if (!type) throw wrong('instance_type', 'Instance type not found');
  if (type.region !== region) throw wrong('region', 'Instance type is not in this region');
  if (!PRICE.test(limitPrice)) throw wrong('limit_price', 'Input should be a price like $25.60');
  if (body.instance_quantity !== 1) throw wrong('instance_quantity', 'Field required');
  const { volumes, ssh_keys, startup_script = '' } = (body.launch_specification ?? {}) as Record<string, unknown>;
  if (!Array.isArray(volumes) || !Array.isArray(ssh_keys)) throw wrong('launch_specification', 'Field required');
  if (Number(limitPrice.slice(1)) * 100 < type.minimum_price_cents)
    throw wrong('limit_price', 'Limit price is below the minimum price');
  return { project, name, region, instanceType, limitPrice, script: String(startup_script) };
}
