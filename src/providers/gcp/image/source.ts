// The source block of Packer: its builder googlecompute, as version 1.6.6 knows it and later ones still do.
import type { Recipe } from '#core/image-builder.ts';
import type { Verbatim } from '#packer/hcl.ts';
import { imageName, imageTags, tagNames } from '#packer/marks.ts';
import type { PackerSource } from '#packer/template.ts';
import type { GceImageConfig } from './config.ts';

export const LABELS = tagNames('-');
const MOST_NAME = 63;

const variable = (name: string): Verbatim => ({ verbatim: `var.${name}` });

/** A label takes no dot, so the version is in the description. */
export const descriptionOf = ({ name, version }: Pick<Recipe, 'name' | 'version'>): string =>
  `Muster image ${name} ${version}`;

export const readDescription = (text = ''): string | undefined => /^Muster image \S+ (\S+)$/.exec(text)?.[1];

/** RFC 1035: no dots, small letters. */
export function resourceName(recipe: Recipe): string {
  const name = imageName(recipe)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-');
  const hash = name.slice(name.lastIndexOf('-'));
  return name.length > MOST_NAME ? `${name.slice(0, MOST_NAME - hash.length)}${hash}` : name;
}

export function sourceFor(config: GceImageConfig & { readonly project: string }, recipe: Recipe): PackerSource {
  const { project, zone, base, machineType, network, subnetwork, sshUsername } = config;
  const [baseProject = '', family = ''] = base.split('/');
  const { [LABELS.version]: _version, ...finished } = imageTags(LABELS, recipe);
  return {
    builder: 'googlecompute',
    plugin: { source: 'github.com/hashicorp/googlecompute', version: '>= 1.1.4' },
    variables: { mark_name: { type: 'string' }, mark_labels: { type: 'map(string)' } },
    values: {
      project_id: project,
      zone,
      source_image_family: family,
      source_image_project_id: [baseProject],
      machine_type: machineType,
      network,
      subnetwork,
      // No right of the project is within reach of the steps.
      disable_default_service_account: true,
      ssh_username: sshUsername,
      ssh_clear_authorized_keys: true,
      // Its disk has the same name, and no labels.
      instance_name: variable('mark_name'),
      labels: variable('mark_labels'),
      image_name: resourceName(recipe),
      image_family: recipe.name,
      image_description: descriptionOf(recipe),
      image_labels: { verbatim: `merge(var.mark_labels, ${JSON.stringify(finished)})` },
    },
    sealing: { user: sshUsername, last: [`rm -f /etc/instance_id /var/lib/google/instance_id`] },
  };
}
