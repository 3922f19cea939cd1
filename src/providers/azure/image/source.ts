// The source block of Packer: its builder azure-arm, as version 1.6.6 knows it and later ones still do.
import type { Recipe } from '#core/image-builder.ts';
import type { Verbatim } from '#packer/hcl.ts';
import { imageTags, tagNames } from '#packer/marks.ts';
import type { PackerSource } from '#packer/template.ts';
import type { GalleryImageConfig } from './config.ts';

export const TAGS = tagNames('-');

const variable = (name: string): Verbatim => ({ verbatim: `var.${name}` });

/** Parts of a version are numbers, and a version cannot be made again: the last one leaves room for other recipes. */
const ROOM = 1_000;

/** The number of the next version of a gallery for a version of ours: higher than all that it has of it. */
export function nextNumber(version: string, taken: readonly string[]): string {
  const [major = 0, minor = 0, patch = 0] = (version.split('-')[0] ?? '').split('.').map(Number);
  const first = patch * ROOM;
  const own = taken.flatMap((name) => {
    const [x, y, z = -1] = name.split('.').map(Number);
    return x === major && y === minor && z >= first && z < first + ROOM ? [z] : [];
  });
  return `${major}.${minor}.${Math.max(first - 1, ...own) + 1}`;
}

export function sourceFor(config: GalleryImageConfig, subscription: string, recipe: Recipe): PackerSource {
  const { resourceGroup, gallery, image, location, replicateTo = [location], base, vmSize, sshUsername } = config;
  const [publisher = '', offer = '', sku = ''] = base.split(':');
  const destination = {
    type: 'shared_image_gallery_destination',
    values: {
      subscription,
      resource_group: resourceGroup,
      gallery_name: gallery,
      image_name: image,
      image_version: variable('gallery_version'),
      replication_regions: replicateTo,
    },
  };
  return {
    builder: 'azure-arm',
    plugin: { source: 'github.com/hashicorp/azure', version: '>= 2.0.0' },
    variables: {
      mark_name: { type: 'string' },
      mark_tags: { type: 'map(string)' },
      gallery_version: { type: 'string' },
      use_cli: { type: 'bool' },
      client_id: { type: 'string', isSecret: true },
      client_secret: { type: 'string', isSecret: true },
      tenant_id: { type: 'string', isSecret: true },
    },
    values: {
      subscription_id: subscription,
      client_id: variable('client_id'),
      client_secret: variable('client_secret'),
      tenant_id: variable('tenant_id'),
      use_azure_cli_auth: variable('use_cli'),
      location,
      vm_size: vmSize,
      os_type: 'Linux',
      image_publisher: publisher,
      image_offer: offer,
      image_sku: sku,
      // All that it makes is in a group of its own, but for the managed image that the gallery copies.
      temp_resource_group_name: variable('mark_name'),
      managed_image_name: variable('mark_name'),
      managed_image_resource_group_name: resourceGroup,
      azure_tags: { verbatim: `merge(var.mark_tags, ${JSON.stringify(imageTags(TAGS, recipe))})` },
      ssh_username: sshUsername,
    },
    blocks: [destination],
    // Azure's agent makes host keys and users anew where deprovisioning was asked of it.
    sealing: {
      user: sshUsername,
      last: ['if command -v waagent >/dev/null 2>&1; then waagent -force -deprovision; fi'],
    },
  };
}
