import { Fault } from '#core/fault.ts';
import type { Signing } from './signed.ts';

export interface RoleCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

const VERSION = '2011-06-15';

/** Credentials of that role, for an hour. */
export async function assumeRole(signing: Signing, roleArn: string, signal: AbortSignal): Promise<RoleCredentials> {
  const form = { Action: 'AssumeRole', Version: VERSION, RoleArn: roleArn, RoleSessionName: 'muster' };
  const body = new URLSearchParams(form).toString();
  const text = await signing.ask({ service: 'sts', action: 'AssumeRole', method: 'POST', path: '/', body }, signal);
  const read = (tag: string): string => {
    const found = new RegExp(`<${tag}>([^<]+)</${tag}>`).exec(text)?.[1];
    if (found) return found;
    throw new Fault('unavailable', `sts:AssumeRole in ${signing.region} answered without ${tag}.`);
  };
  return {
    accessKeyId: read('AccessKeyId'),
    secretAccessKey: read('SecretAccessKey'),
    sessionToken: read('SessionToken'),
  };
}
