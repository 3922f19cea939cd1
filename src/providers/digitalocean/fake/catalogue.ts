// What DigitalOcean's API answers of the account and of what it sells.
import { IMAGES, REGIONS, SIZES, SSH_KEYS, VPCS } from './seed-data.ts';

const CREATED_AT = '2026-01-05T09:00:00Z';

/** By the action that lists them: the key of the list, and its items. */
export const LISTS: Readonly<Record<string, readonly [key: string, items: readonly object[]]>> = {
  sizes: ['sizes', SIZES.map((size) => ({ ...size, available: true }))],
  regions: ['regions', REGIONS.map((slug) => ({ slug, name: slug, available: true }))],
  images: [
    'images',
    IMAGES.map((image) => ({ ...image, type: image.slug === null ? 'snapshot' : 'base', status: 'available' })),
  ],
  keys: ['ssh_keys', SSH_KEYS],
  vpcs: ['vpcs', VPCS.map((vpc) => ({ ...vpc, default: true, created_at: CREATED_AT }))],
};
