import type { Context } from '#core/provider.ts';
import { type PackerPlace, packerBuilder } from '#packer/builder.ts';
import { markName } from '#packer/marks.ts';
import { armAt } from '../arm/client.ts';
import type { GalleryImageConfig } from './config.ts';
import { dropImage, listImages, versionsOf } from './images.ts';
import { cleanUp } from './leftovers.ts';
import { nextNumber, sourceFor, TAGS } from './source.ts';

/** By the variable that Packer takes it from: that of Azure's own libraries. */
const LOGIN = {
  PKR_VAR_client_id: 'AZURE_CLIENT_ID',
  PKR_VAR_client_secret: 'AZURE_CLIENT_SECRET',
  PKR_VAR_tenant_id: 'AZURE_TENANT_ID',
} as const;
const CLI_FOLDER = 'AZURE_CONFIG_DIR';
export const VARIABLES: readonly string[] = [...Object.keys(LOGIN), CLI_FOLDER];

/** By a client secret; else by the login of `az`, else by the identity of this machine. */
function loginOf({ variable, programs }: Context) {
  const secret = variable?.('AZURE_CLIENT_SECRET');
  const folder = variable?.(CLI_FOLDER);
  const ofCli = folder === undefined ? {} : { [CLI_FOLDER]: folder };
  const login = Object.entries(LOGIN).map(([own, name]) => [own, variable?.(name) ?? ''] as const);
  const isCli = secret === undefined && programs?.find('az') !== undefined;
  return {
    isCli,
    secrets: secret === undefined ? [] : [secret],
    env: secret === undefined ? ofCli : Object.fromEntries(login),
  };
}

/** Builds versions of one image of a gallery. */
export async function openGalleryImages(config: GalleryImageConfig, context: Context) {
  const arm = armAt(config, context);
  const { isCli, secrets, env } = loginOf(context);
  const { resourceGroup, gallery, base, architecture } = config;
  const group = `/subscriptions/${arm.subscriptionId}/resourceGroups/${resourceGroup}`;
  const image = `${group}/providers/Microsoft.Compute/galleries/${gallery}/images/${config.image}`;
  const place: PackerPlace = {
    cloud: `azure:${arm.host}:${arm.subscriptionId}/${resourceGroup.toLowerCase()}`,
    account: `azure:${arm.host}:${arm.subscriptionId}`,
    target: { form: 'machine', base, machine: architecture === 'arm64' ? 'aarch64' : 'x86_64' },
    env,
    secrets,
    source: (recipe) => sourceFor(config, arm.subscriptionId, recipe),
    async prepare({ version }, mark, signal) {
      const name = markName(mark);
      const taken = (await versionsOf(arm, image, signal)).map((one) => one.name);
      const number = nextNumber(version, taken);
      return { mark_name: name, mark_tags: { [TAGS.build]: name }, gallery_version: number, use_cli: isCli };
    },
    images: (hash, signal) => listImages(arm, { image, hash }, signal),
    drop: (built, signal) => dropImage(arm, built, signal),
    clean: (isOver, signal) => cleanUp(arm, { group, image }, isOver, signal),
  };
  return packerBuilder(place, context);
}
