import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import { type PackerPlace, packerBuilder } from '#packer/builder.ts';
import { markName } from '#packer/marks.ts';
import { accountOf, computeAt } from '../compute/client.ts';
import type { GceImageConfig } from './config.ts';
import { dropImage, listImages } from './images.ts';
import { cleanUp } from './leftovers.ts';
import { LABELS, sourceFor } from './source.ts';

/** Where application default credentials are looked for: the same by Packer and by us. */
export const VARIABLES: readonly string[] = ['GOOGLE_APPLICATION_CREDENTIALS', 'CLOUDSDK_CONFIG', 'GCE_METADATA_HOST'];

const PROJECT_VARIABLE = 'GOOGLE_CLOUD_PROJECT';

function projectOf({ project }: GceImageConfig, { variable }: Context): string {
  const found = project ?? variable?.(PROJECT_VARIABLE);
  if (found) return found;
  throw new Fault('invalid', 'No project of Google Cloud is set.', {
    at: 'project',
    remedy: `Set project, or ${PROJECT_VARIABLE}.`,
  });
}

/** Builds images in one project. */
export async function openImages(config: GceImageConfig, context: Context) {
  const project = projectOf(config, context);
  const compute = computeAt(project, config.endpoint, context);
  const entries = VARIABLES.flatMap((name) => {
    const value = context.variable?.(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const place: PackerPlace = {
    cloud: accountOf(compute),
    target: { form: 'machine', base: config.base, machine: config.architecture === 'arm64' ? 'aarch64' : 'x86_64' },
    env: Object.fromEntries(entries),
    // They name files.
    secrets: [],
    source: (recipe) => sourceFor({ ...config, project }, recipe),
    async prepare(_recipe, mark) {
      const name = markName(mark);
      return { mark_name: name, mark_labels: { [LABELS.build]: name } };
    },
    images: (hash, signal) => listImages(compute, hash, signal),
    drop: (image, signal) => dropImage(compute, image, signal),
    clean: (isOver, signal) => cleanUp(compute, isOver, signal),
  };
  return packerBuilder(place, context);
}
