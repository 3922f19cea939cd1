import { fieldPath, openRequestCheck, type RequestFlaw } from '#fakes/check-request.ts';
import { type Refusal, refusal } from '#fakes/refusal.ts';
import { definition } from './definition.gen.ts';
import { IMAGES, REGIONS, SIZES, SSH_KEYS, VPCS } from './seed-data.ts';
import type { DropletCall } from './wire.ts';

/** What a creation asks for, once it is known to be good. */
export interface Wanted {
  readonly names: readonly string[];
  readonly region: string;
  readonly size: string;
  readonly image: string | number;
  readonly tags: readonly string[];
  readonly user_data?: string;
  readonly vpc_uuid?: string;
  readonly ssh_keys?: readonly (string | number)[];
}

const MOST_NAMES = 10;
const MOST_USER_DATA = 64 * 1024;
const TAG = /^[a-z0-9_:-]{1,255}$/i;
const HOST_NAME = 'Only valid hostname characters are allowed. (a-z, A-Z, 0-9, . and -)';

const unprocessable = (message: string): Refusal => refusal('unprocessable_entity', message, 422);

function refuseUnless(isGood: unknown, message: string): void {
  if (!isGood) throw unprocessable(message);
}

const check = openRequestCheck(definition);

/** What DigitalOcean says of fields that are missing or wrong, as far as its words are known. */
const WORDS: Readonly<Record<string, string>> = {
  'missing name': "Name can't be blank",
  'missing names': "Name can't be blank",
  'value name': HOST_NAME,
  'value names': HOST_NAME,
  'missing size': 'You specified an invalid size for Droplet creation.',
  'missing image': 'You specified an invalid image for Droplet creation.',
};

function wordsFor({ kind, path }: RequestFlaw): string {
  const field = fieldPath(path);
  if (kind === 'unknown') return `${field} is not a known parameter.`;
  return WORDS[`${kind} ${path[0]}`] ?? `${field} is ${kind === 'missing' ? 'required' : 'invalid'}.`;
}

/** Refuses a request that does not fit DigitalOcean's definition of it. */
export function refuseFlaws({ action, query, body }: DropletCall): void {
  const method = action === 'create' && 'names' in body ? 'createMany' : action;
  const [flaw] = check(method, { query, body });
  if (!flaw) return;
  throw flaw.at === 'query' ? refusal('bad_request', wordsFor(flaw), 400) : unprocessable(wordsFor(flaw));
}

function checkReferences({ image, region, vpc_uuid, ssh_keys = [] }: Omit<Wanted, 'names'>): void {
  refuseUnless(
    IMAGES.some(({ id, slug }) => image === id || image === slug),
    'You specified an invalid image for Droplet creation.',
  );
  const wrong = ssh_keys.filter(
    (key) => !SSH_KEYS.some(({ id, fingerprint }) => key === fingerprint || String(key) === String(id)),
  );
  refuseUnless(wrong.length === 0, `${wrong.join(', ')} are invalid key identifiers for Droplet creation.`);
  refuseUnless(
    vpc_uuid === undefined || VPCS.some((vpc) => vpc.id === vpc_uuid && vpc.region === region),
    'You specified invalid VPC parameters for Droplet creation.',
  );
}

/** Refuses what does not exist or is too much, in DigitalOcean's words. */
export function checkCreation(body: Readonly<Record<string, unknown>>): Wanted {
  const { name, ...rest } = body as unknown as Wanted & { readonly name?: string };
  const { names = name === undefined ? [] : [name], tags, region = '', size, user_data = '' } = rest;
  refuseUnless(names.length > 0, "Name can't be blank");
  refuseUnless(names.length <= MOST_NAMES, `You can only create ${MOST_NAMES} droplets at a time.`);
  for (const tag of tags ?? []) refuseUnless(TAG.test(tag), `Tag ${tag} is invalid.`);
  refuseUnless(Buffer.byteLength(user_data) <= MOST_USER_DATA, 'User data is too long (maximum is 64 KiB)');
  const sold = SIZES.find(({ slug }) => slug === size);
  refuseUnless(sold, 'You specified an invalid size for Droplet creation.');
  refuseUnless(REGIONS.includes(region), 'You specified an invalid region for Droplet creation.');
  refuseUnless(sold?.regions.includes(region), 'Size is not available in this region.');
  checkReferences({ ...rest, tags: tags ?? [] });
  return { ...rest, names, tags: tags ?? [] };
}
