import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import type { CrusoeConfig } from './config.ts';

const USUAL = 'https://api.cloud.crusoe.ai/v1';
// Addresses of before; Crusoe's own Terraform provider reads them as the one of today.
const FORMER = /^https:\/\/api\.crusoecloud\.(com|site)\/v1(alpha5)?$/;

/** Whose project, and what proves it. */
export interface Access {
  readonly projectId: string;
  readonly clusterId?: string | undefined;
  readonly accessKey: string;
  readonly secretKey: string;
  /** With the version. */
  readonly base: string;
}

export function accessFor(config: CrusoeConfig, { variable }: Pick<Context, 'variable'>): Access {
  function needed(value: string | undefined, key: string, name: string): string {
    const found = value || variable?.(name);
    if (found) return found;
    throw new Fault('unauthenticated', `There is no ${key} for Crusoe.`, {
      remedy: `Set ${key}, or ${name} for the server.`,
    });
  }
  const base = (config.endpoint || variable?.('CRUSOE_API_ENDPOINT') || USUAL).replace(/\/+$/, '');
  return {
    projectId: needed(config.projectId, 'project_id', 'CRUSOE_PROJECT_ID'),
    clusterId: config.clusterId || variable?.('CRUSOE_CLUSTER_ID') || undefined,
    accessKey: needed(config.accessKey, 'access_key', 'CRUSOE_ACCESS_KEY'),
    secretKey: needed(config.secretKey, 'secret_key', 'CRUSOE_SECRET_KEY'),
    base: FORMER.test(base) ? USUAL : base,
  };
}
