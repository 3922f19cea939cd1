import type { Context } from '#core/provider.ts';
import { packerBuilder } from '#packer/builder.ts';
import { markName } from '#packer/marks.ts';
import { ec2At } from '../client.ts';
import { type AmiConfig, VARIABLES } from './config.ts';
import { dropImage, listImages } from './images.ts';
import { cleanUp, makeGroup } from './leftovers.ts';
import { sourceFor, TAGS } from './source.ts';

const SECRET: readonly string[] = ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];

/** Builds AMIs in one region of the account. */
export async function openAmis(config: AmiConfig, context: Context) {
  const ec2 = await ec2At(context, { region: config.region, endpoint: config.endpoint });
  const { region, elsewhere } = ec2;
  const entries = VARIABLES.flatMap((name) => {
    const value = context.variable?.(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const place = {
    cloud: elsewhere === undefined ? `aws:${region}` : `aws:${region}@${elsewhere}`,
    target: {
      form: 'machine' as const,
      base: config.base,
      machine: config.architecture === 'arm64' ? 'aarch64' : 'x86_64',
    },
    env: Object.fromEntries(entries),
    secrets: entries.flatMap(([name, value]) => (SECRET.includes(name) ? [value] : [])),
    source: (recipe: Parameters<typeof sourceFor>[3]) => sourceFor(config, region, config.endpoint, recipe),
    async prepare(_recipe: unknown, mark: Parameters<typeof markName>[0], signal: AbortSignal) {
      const name = markName(mark);
      const group = await makeGroup(ec2, config, mark, signal);
      return { mark_name: name, mark_tags: { [TAGS.build]: name, Name: name }, security_group: group };
    },
    images: (hash: string | undefined, signal: AbortSignal) => listImages(ec2, hash, signal),
    drop: (image: Parameters<typeof dropImage>[1], signal: AbortSignal) => dropImage(ec2, image, signal),
    clean: (isOver: Parameters<typeof cleanUp>[1], signal: AbortSignal) => cleanUp(ec2, isOver, signal),
  };
  return packerBuilder(place, context);
}
