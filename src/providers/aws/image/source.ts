// The source block of Packer: its builder amazon-ebs, as version 1.6.6 knows it and later ones still do.
import type { Recipe } from '#core/image-builder.ts';
import type { Verbatim } from '#packer/hcl.ts';
import { imageName, imageTags, tagNames } from '#packer/marks.ts';
import type { PackerSource } from '#packer/template.ts';
import type { AmiConfig } from './config.ts';

export const TAGS = tagNames(':');

const variable = (name: string): Verbatim => ({ verbatim: `var.${name}` });

/** Where Packer looks for the image that it starts from. */
function baseOf({ base, architecture }: AmiConfig) {
  if (base.startsWith('ami-')) return { values: { source_ami: base }, blocks: [] };
  const [owner = '', ...name] = base.split('/');
  const filters = {
    name: name.join('/'),
    architecture,
    'root-device-type': 'ebs',
    'virtualization-type': 'hvm',
  };
  const block = { type: 'source_ami_filter', values: { filters, owners: [owner], most_recent: true } };
  return { values: {}, blocks: [block] };
}

export function sourceFor(
  config: AmiConfig,
  region: string,
  elsewhere: string | undefined,
  recipe: Recipe,
): PackerSource {
  const { instanceType, subnetId, sshUsername } = config;
  const base = baseOf(config);
  const finished = imageTags(TAGS, recipe);
  return {
    builder: 'amazon-ebs',
    plugin: { source: 'github.com/hashicorp/amazon', version: '>= 1.2.8' },
    variables: {
      mark_name: { type: 'string' },
      mark_tags: { type: 'map(string)' },
      security_group: { type: 'string' },
    },
    values: {
      region,
      ...(elsewhere !== undefined && { custom_endpoint_ec2: elsewhere, skip_region_validation: true }),
      ...base.values,
      instance_type: instanceType,
      subnet_id: subnetId,
      // Its own group would bear no mark.
      security_group_ids: [variable('security_group')],
      temporary_key_pair_name: variable('mark_name'),
      ssh_username: sshUsername,
      ssh_clear_authorized_keys: true,
      run_tags: variable('mark_tags'),
      run_volume_tags: variable('mark_tags'),
      ami_name: imageName(recipe),
      ami_description: `Muster image ${recipe.name} ${recipe.version}`,
      tags: { verbatim: `merge(var.mark_tags, ${JSON.stringify(finished)})` },
      snapshot_tags: { verbatim: `merge(var.mark_tags, ${JSON.stringify(finished)})` },
    },
    blocks: base.blocks,
    sealing: { user: sshUsername },
  };
}
