import { refusal } from '#fakes/refusal.ts';
import { IMAGES, REGIONS, SIZES } from './seed-data.ts';

/** What a creation asks for, once it is known to be good. */
export interface Wanted {
  readonly names: readonly string[];
  readonly region: string;
  readonly size: string;
  readonly image: string | number;
  readonly tags: readonly string[];
  readonly user_data?: string;
}

const MOST_NAMES = 10;
const MOST_USER_DATA = 64 * 1024;
const HOSTNAME = /^[a-z0-9](?:[a-z0-9.-]{0,253}[a-z0-9])?$/i;
const TAG = /^[a-z0-9_:-]{1,255}$/i;

const unprocessable = (message: string): Error => refusal('unprocessable_entity', message, 422);

function refuseUnless(isGood: unknown, message: string): void {
  if (!isGood) throw unprocessable(message);
}

/** Refuses what DigitalOcean refuses, in its words. */
export function checkCreation(body: Readonly<Record<string, unknown>>): Wanted {
  const { name, region, size, image, tags = [], user_data } = body as Partial<Wanted> & { readonly name?: string };
  const names = (body.names as string[] | undefined) ?? (name === undefined ? [] : [name]);
  refuseUnless(names.length > 0, "Name can't be blank");
  refuseUnless(names.length <= MOST_NAMES, `You can only create ${MOST_NAMES} droplets at a time.`);
  for (const one of names)
    refuseUnless(HOSTNAME.test(one), 'Only valid hostname characters are allowed. (a-z, A-Z, 0-9, . and -)');
  for (const tag of tags) refuseUnless(TAG.test(tag), `Tag ${tag} is invalid.`);
  refuseUnless(Buffer.byteLength(user_data ?? '') <= MOST_USER_DATA, 'User data is too long (maximum is 64 KiB)');
  const sold = SIZES.find(({ slug }) => slug === size);
  refuseUnless(sold, 'You specified an invalid size for Droplet creation.');
  refuseUnless(REGIONS.includes(region ?? ''), 'You specified an invalid region for Droplet creation.');
  refuseUnless(sold?.regions.includes(region ?? ''), 'Size is not available in this region.');
  refuseUnless(
    typeof image === 'number' || IMAGES.includes(image ?? ''),
    'You specified an invalid image for Droplet creation.',
  );
  return {
    names,
    region: region ?? '',
    size: size ?? '',
    image: image ?? '',
    tags,
    ...(user_data !== undefined && { user_data }),
  };
}
