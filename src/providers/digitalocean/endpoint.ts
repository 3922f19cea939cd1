import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';

export const TOKEN_VARIABLE = 'DIGITALOCEAN_API_TOKEN';
/** The variable that Terraform's provider reads too. */
export const URL_VARIABLE = 'DIGITALOCEAN_API_URL';

const USUAL = 'https://api.digitalocean.com';
// The AMD Developer Cloud: another host with accounts of its own, whose sizes all end alike.
const OF_AMD = 'https://api-amd.digitalocean.com';
const AMD_SIZE = /-devcloud$/;

export interface Access {
  readonly token: string;
  /** Without `/v2`. */
  readonly base: string;
}

export interface AccessConfig {
  readonly apiToken?: string | undefined;
  readonly apiEndpoint?: string | undefined;
}

const withoutVersion = (url: string): string => url.replace(/\/+$/, '').replace(/\/v2$/, '');

/** Where a size is sold, and what is shown there. */
export function accessFor({ apiToken, apiEndpoint }: AccessConfig, size: string, context: Context): Access {
  const token = apiToken || context.variable?.(TOKEN_VARIABLE);
  if (!token) {
    throw new Fault('unauthenticated', 'There is no API token for DigitalOcean.', {
      remedy: `Set api_token, or ${TOKEN_VARIABLE} for the server.`,
    });
  }
  const own = apiEndpoint ?? context.variable?.(URL_VARIABLE);
  return { token, base: withoutVersion(own ?? (AMD_SIZE.test(size) ? OF_AMD : USUAL)) };
}
