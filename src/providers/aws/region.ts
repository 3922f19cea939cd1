import { answered } from '#core/answer.ts';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';

// The same address on every machine of EC2; where there is none, nothing answers.
const METADATA = 'http://169.254.169.254/latest';
const PATIENCE_MS = 1_500;

async function read({ fetch, clock }: Context): Promise<string> {
  const { signal } = new AbortController();
  return answered({ clock, what: 'The metadata service', withinMs: PATIENCE_MS }, signal, async (ending) => {
    const ask = { method: 'PUT', headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '60' }, signal: ending };
    const token = await (await fetch(`${METADATA}/api/token`, ask)).text();
    const headers = { 'x-aws-ec2-metadata-token': token };
    const reply = await fetch(`${METADATA}/meta-data/placement/region`, { headers, signal: ending });
    return reply.ok ? (await reply.text()).trim() : '';
  });
}

/** The region of the machine that we run on, the last place where the SDK's users expect one. */
export async function machineRegion(context: Context): Promise<string> {
  const found = await read(context).catch(() => '');
  if (/^[a-z]{2}(-[a-z]+)+-\d+$/.test(found)) return found;
  throw new Fault('invalid', 'No AWS region is set.', {
    at: 'region',
    remedy: 'Set region, or AWS_REGION where Muster runs, or a region in the AWS profile there.',
  });
}
