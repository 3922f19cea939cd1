import { stringify } from 'yaml';
import { agentFile, hasWorkDir, withOverrides } from '#boot/agent-file.ts';
import { withOwnScript } from '#boot/own-script.ts';
import { bootScript, NAME_PLACE, WORK_DIR } from '#boot/script.ts';
import { userData } from '#boot/user-data.ts';
import type { Launch } from '#core/provider.ts';
import type { InstanceConfig } from '../config.ts';

/** `cloud_init_user_data` has at most this many characters. */
const LIMIT = { cloud: 'Nebius', bytes: 32_768 };

export const mountTag = (at: number): string => `fs-${at}`;

/** At each boot, for an instance that was stopped starts without its mounts. */
const mountCommands = ({ filesystems }: InstanceConfig): string[][] =>
  filesystems.flatMap(({ mountPath }, at) => [
    ['mkdir', '-p', mountPath],
    ['sh', '-c', `mountpoint -q ${mountPath} || mount -t virtiofs ${mountTag(at)} ${mountPath}`],
  ]);

function adminOf(key: string): object {
  return { name: 'velda', sudo: 'ALL=(ALL) NOPASSWD:ALL', shell: '/bin/bash', ssh_authorized_keys: [key] };
}

/** What cloud-init does by itself, beside our script. */
function cloudConfig(config: InstanceConfig): string | undefined {
  const { adminSshKey } = config;
  const bootcmd = mountCommands(config);
  if (!adminSshKey && bootcmd.length === 0) return undefined;
  const settings = {
    ...(adminSshKey && { users: ['default', adminOf(adminSshKey)] }),
    ...(bootcmd.length > 0 && { bootcmd }),
  };
  return `#cloud-config\n${stringify(settings, { lineWidth: 0 })}`;
}

const ownScript = ({ additionalRuncmds }: InstanceConfig): string | undefined =>
  additionalRuncmds.length === 0 ? undefined : `#!/bin/sh\n${additionalRuncmds.join('\n')}\n`;

/** The user data of one machine. Secret. */
export function bootData(config: InstanceConfig, { boot }: Launch, name: string): string {
  const settings = { name: NAME_PLACE, ...(hasWorkDir(config) ? {} : { workDir: WORK_DIR }) };
  const text = agentFile(withOverrides(boot, config), settings);
  const ours = bootScript({ naming: { name }, agentFile: text, install: boot.install });
  const script = withOwnScript({ key: 'additional_runcmds', script: ownScript(config) }, ours);
  const beside = cloudConfig(config);
  return userData(script, beside && Buffer.from(beside).toString('base64'), LIMIT).toString();
}
