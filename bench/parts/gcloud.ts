// gcloud as a peer, where the machine has it: what it takes to list the same objects.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SECONDS_A_MINUTE = 60;
// What the shell prints of the programs that it ran, on the second line: user and system time.
const TIMES = /(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$/;

export interface GcloudListing {
  readonly address: string;
  readonly bucket: string;
  readonly prefix: string;
  /** For what it keeps between two runs. */
  readonly folder: string;
}

/** The processor time of one `gcloud storage ls -l` and the lines that it printed; nothing where there is no gcloud. */
export async function costOfGcloud({ address, bucket, prefix, folder }: GcloudListing) {
  const env = {
    ...process.env,
    CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE: `${address}/storage/v1/`,
    CLOUDSDK_AUTH_DISABLE_CREDENTIALS: 'true',
    CLOUDSDK_CORE_PROJECT: 'my-project',
    CLOUDSDK_CORE_DISABLE_PROMPTS: '1',
    CLOUDSDK_CONFIG: folder,
  };
  const script = `gcloud storage ls -l 'gs://${bucket}/${prefix}**' 2>/dev/null | wc -l && times`;
  const { stdout } = await run('bash', ['-c', script], { env });
  const lines = Number(stdout.split('\n')[0]);
  const [, ...numbers] = TIMES.exec(stdout) ?? [];
  const [minutes = 0, seconds = 0, systemMinutes = 0, systemSeconds = 0] = numbers.map(Number);
  const cpuMs = 1_000 * ((minutes + systemMinutes) * SECONDS_A_MINUTE + seconds + systemSeconds);
  return lines === 0 ? undefined : { cpuMs, lines };
}
