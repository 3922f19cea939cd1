// gcloud as a peer, where the machine has it: what it takes to list the same objects.
import { cpuOfCommand } from './command-cpu.ts';

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
  const { cpuMs, stdout } = await cpuOfCommand(
    `gcloud storage ls -l 'gs://${bucket}/${prefix}**' 2>/dev/null | wc -l`,
    env,
  );
  const lines = Number(stdout.split('\n')[0]);
  return lines === 0 ? undefined : { cpuMs, lines };
}
