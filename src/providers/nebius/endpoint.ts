import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';

/** The variable that the command line of Nebius reads too: a domain; here also an address. */
export const ENDPOINT_VARIABLE = 'NEBIUS_ENDPOINT';

const DOMAIN = 'api.nebius.cloud';

/** Where the services of the API are. */
export interface Endpoint {
  readonly host: string;
  addressOf(service: string): string;
}

/** An address stands for all services; a domain has one host for each. */
export function endpointFor(own: string | undefined, context: Context): Endpoint {
  const written = own ?? context.variable?.(ENDPOINT_VARIABLE) ?? DOMAIN;
  if (/^https?:\/\//.test(written)) {
    const { origin, host } = new URL(written);
    return { host, addressOf: () => origin };
  }
  const [domain = '', port] = written.split(':');
  if (!/^[\w.-]+$/.test(domain)) {
    throw new Fault('invalid', `${ENDPOINT_VARIABLE} is neither a domain nor an address: "${written}".`);
  }
  const host = port === undefined || port === '443' ? domain : `${domain}:${port}`;
  return { host, addressOf: (service) => `https://${service}.${host}` };
}
