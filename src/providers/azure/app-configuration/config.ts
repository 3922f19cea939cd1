import { z } from 'zod';
import { duration } from '#core/schema.ts';

// Those of App Configuration in all parts of Azure; a token of ours goes to no other.
const STORE_HOST = /^[a-z0-9][a-z0-9-]{3,48}[a-z0-9]\.(azconfig\.io|azconfig\.azure\.us|azconfig\.azure\.cn)$/i;

/** A store of Azure, or an emulator, which is shown no credentials. */
function isStore(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname } = new URL(text);
  return pathname === '/' && (protocol === 'http:' || (protocol === 'https:' && STORE_HOST.test(hostname)));
}

export const AppConfigurationConfig = z.strictObject({
  endpoint: z
    .string()
    .refine(isStore, 'must be the address of a store, like https://my-store.azconfig.io, or http:// for an emulator')
    .describe('Endpoint of the store, like `https://my-store.azconfig.io`. An `http://` address is an emulator.'),
  configPrefix: z
    .string()
    .describe('Prefix of the keys. Every key below it, at any depth, is a pool document; `""`: all of the store.'),
  label: z
    .string()
    .min(1)
    .optional()
    .describe('Label of the key-values.')
    .meta({ defaultText: 'those without a label' }),
  updateInterval: duration(1_000).prefault('60s').describe('Interval between listings of the keys.'),
});
export type AppConfigurationConfig = z.output<typeof AppConfigurationConfig>;

/** With one slash at its end, so that `pools` does not take `pools-of-others/` with it. */
export function prefixOf({ configPrefix }: AppConfigurationConfig): string {
  return configPrefix === '' ? '' : `${configPrefix.replace(/\/+$/, '')}/`;
}

/** The place that the source reads; the same however its prefix is written. */
export function placeOf(config: AppConfigurationConfig): string {
  const place = `${new URL(config.endpoint).host}/${prefixOf(config)}`;
  return config.label === undefined ? place : `${place}#${config.label}`;
}
