// What runs on the machine that an image is made of, as root: the files of the recipe come to their places, then its
// steps, and at last all that makes one machine differ from another is removed.
import type { Recipe, RecipeFile } from '#core/image-builder.ts';
import { quoted } from '#core/shell-text.ts';

/** Where Packer uploads the files. */
export const UPLOADS = '/tmp/muster-files';

export const fileName = (at: number): string => `file-${at + 1}`;
export const stepName = (at: number): string => `step-${at + 1}.sh`;

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/';

function placeLines({ path, mode, from }: RecipeFile, at: number): string[] {
  const [source, target] = [`${UPLOADS}/${fileName(at)}`, quoted(path)];
  const check = 'sha256' in from ? [`echo '${from.sha256}  ${source}' | sha256sum -c --quiet -`] : [];
  const bits = mode.toString(8).padStart(4, '0');
  if ('archive' in from)
    return [
      ...check,
      `mkdir -p ${target}`,
      `chmod ${bits} ${target}`,
      `tar -xzf ${source} -C ${target} --no-same-owner`,
    ];
  return [
    ...check,
    `mkdir -p ${quoted(folderOf(path))}`,
    `cp ${source} ${target}`,
    `chown 0:0 ${target}`,
    `chmod ${bits} ${target}`,
  ];
}

/** Brings the uploaded files to their places. */
export const placeScript = ({ files }: Pick<Recipe, 'files'>): string =>
  [...files.flatMap(placeLines), `rm -rf ${UPLOADS}`, ''].join('\n');

export interface Sealing {
  /** The user that Packer logs in as. */
  readonly user: string;
  /** What this cloud wants at the very end: `waagent -force -deprovision`. */
  readonly last?: readonly string[];
}

/**
 * An image holds no key, no token and no identity: its machines make their own at their first boot. systemd makes a new
 * machine-id where the file is empty, cloud-init and the guest agents of the clouds make new host keys.
 */
export const sealScript = ({ user, last = [] }: Sealing): string =>
  [
    'rm -f /etc/ssh/ssh_host_*_key /etc/ssh/ssh_host_*_key.pub',
    ': > /etc/machine-id',
    'rm -f /var/lib/dbus/machine-id /var/lib/systemd/random-seed /var/lib/systemd/credential.secret',
    'if command -v cloud-init >/dev/null 2>&1; then cloud-init clean --logs || true; fi',
    'rm -rf /var/lib/cloud/instance /var/lib/cloud/instances /var/lib/cloud/data /var/lib/cloud/sem',
    'rm -rf /run/velda /etc/muster/agent.yaml /var/lib/muster/agent',
    'rm -rf /root/.aws /root/.azure /root/.config/gcloud /root/.docker/config.json',
    ...['/root', `/home/${user}`].flatMap((home) => [
      `rm -f ${home}/.ssh/authorized_keys ${home}/.bash_history ${home}/.ash_history ${home}/.sh_history`,
    ]),
    'rm -f /home/*/.bash_history /var/log/wtmp /var/log/btmp /var/log/lastlog /var/log/auth.log',
    'rm -rf /var/log/journal/* /var/lib/dhcp/* /var/lib/NetworkManager/*.lease',
    ...last,
    'sync',
    '',
  ].join('\n');
