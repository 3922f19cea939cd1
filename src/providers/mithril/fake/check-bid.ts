import { refusal } from '#fakes/refusal.ts';
import type { FakeBid } from './bid.ts';
import { noAccess, wrongField } from './refusals.ts';
import { PROJECTS, SSH_KEYS, TYPES } from './seed-data.ts';

export type Wanted = Pick<FakeBid, 'project' | 'name' | 'region' | 'instanceType' | 'limitPrice' | 'launch'>;

/** The body of a creation that fits the definition. */
interface BidBody {
  readonly project: string;
  readonly name: string;
  readonly region: string;
  readonly instance_type: string;
  readonly limit_price: string;
  readonly instance_quantity: number;
  readonly launch_specification: FakeBid['launch'];
}

const PRICE = /^\$\d+\.\d{2}$/;

const namesIn = (items: readonly { readonly fid: string }[]): ReadonlySet<string> =>
  new Set(items.map(({ fid }) => fid));

export const centsOf = (price: string): number => Math.round(Number(price.slice(1)) * 100);

/** Refuses a project, type, region, key or volume that does not exist, and prices below the least. */
export function checkBid(body: Readonly<Record<string, unknown>>): Wanted {
  const bid = body as unknown as BidBody;
  const { project, name, region, instance_type: instanceType, limit_price: limitPrice } = bid;
  const { volumes, ssh_keys } = bid.launch_specification;
  if (!namesIn(PROJECTS).has(project)) throw noAccess();
  const type = TYPES.find(({ fid }) => fid === instanceType);
  if (!type) throw wrongField(['instance_type'], 'Instance type not found');
  if (type.region !== region) throw wrongField(['region'], 'Instance type is not in this region');
  if (!PRICE.test(limitPrice)) throw wrongField(['limit_price'], 'Input should be a price like $25.60');
  if (centsOf(limitPrice) < type.minimum_price_cents)
    throw wrongField(['limit_price'], 'Limit price is below the minimum price');
  if (bid.instance_quantity !== 1)
    throw refusal('not_implemented', 'The simulated Mithril gives a bid one instance', 501);
  const keys = namesIn(SSH_KEYS.filter((key) => key.project === project));
  const key = ssh_keys.findIndex((fid) => !keys.has(fid));
  if (key >= 0) throw wrongField(['launch_specification', 'ssh_keys', key], `SSH key ${ssh_keys[key]} not found`);
  if (volumes.length > 0) throw wrongField(['launch_specification', 'volumes', 0], `Volume ${volumes[0]} not found`);
  return { project, name, region, instanceType, limitPrice, launch: bid.launch_specification };
}
