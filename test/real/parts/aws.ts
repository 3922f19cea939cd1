// The outside AWS: moto as its server, and Amazon's own command line to look at it past our client.
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import type { World } from '../../system/harness/world.ts';
import type { Programs } from './python.ts';
import { runWell } from './run.ts';

export const REGION = 'us-west-2';

export interface OutsideAws {
  readonly address: string;
  /** For the server, the CLI and Terraform: where AWS is, and who asks. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs `aws WORDS…`; answers what it printed, as JSON. */
  aws<T>(...words: readonly string[]): Promise<T>;
}

function startMoto(world: World, programs: Programs, port: number): void {
  const log = openSync(world.path('moto.log'), 'a', 0o600);
  // Otherwise it starts machines from images that do not exist.
  const env = { ...world.env, MOTO_ENABLE_AMI_VALIDATION: 'true' };
  const words = [join(import.meta.dirname, 'serve-moto.py'), '-H', '127.0.0.1', '-p', String(port)];
  spawn(programs.program('python'), words, { env, stdio: ['ignore', log, log] });
  closeSync(log);
}

/** A new account with nothing in it; it ends with its world. */
export async function openAws(world: World, programs: Programs): Promise<OutsideAws> {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  startMoto(world, programs, port);
  await until('moto answers', async () => (await fetch(`${address}/moto-api/data.json`)).ok);
  const env = {
    ...world.env,
    AWS_ENDPOINT_URL: address,
    AWS_ACCESS_KEY_ID: 'testing',
    AWS_SECRET_ACCESS_KEY: 'testing',
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_PAGER: '',
    AWS_DEFAULT_OUTPUT: 'json',
  };
  return {
    address,
    env,
    async aws<T>(...words: readonly string[]) {
      const out = await runWell(programs.program('aws'), words, { env });
      return (out.trim() === '' ? undefined : JSON.parse(out)) as T;
    },
  };
}

export interface Instance {
  readonly id: string;
  readonly pool: string | null;
}

const QUERY =
  'Reservations[].Instances[].{id: InstanceId, state: State.Name, pool: Tags[?Key==`muster:pool`].Value | [0]}';

/** The instances that live, asked past our client. */
export async function instancesOf({ aws }: OutsideAws): Promise<Instance[]> {
  const all = await aws<(Instance & { state: string })[]>('ec2', 'describe-instances', '--query', QUERY);
  return all.filter(({ state }) => ['pending', 'running'].includes(state));
}

/** What pool documents refer to by name: an image, and launch templates for two pools. Answers the image's id. */
export async function furnish({ aws }: OutsideAws): Promise<string> {
  const image = ['--name', 'velda-agent-1', '--architecture', 'x86_64', '--root-device-name', '/dev/sda1'];
  const { ImageId } = await aws<{ ImageId: string }>('ec2', 'register-image', ...image);
  for (const name of ['velda-gpu-workers', 'velda-cpu-workers']) {
    const data = ['--launch-template-data', JSON.stringify({ InstanceType: 'm5.large' })];
    await aws('ec2', 'create-launch-template', '--launch-template-name', name, ...data);
  }
  return ImageId;
}
