// What a machine lacks to run Packer. Apart from the rest: a kind says it before any of that is loaded.
import type { ImageNeed } from '#core/image-builder.ts';
import type { Programs } from '#core/programs.ts';

export const PACKER = 'packer';

/** What this machine lacks to run it. */
export function packerNeeds(programs: Programs | undefined): ImageNeed[] {
  if (programs?.find(PACKER)) return [];
  return [
    {
      program: PACKER,
      why: 'It makes the machine that the image is taken from, and deletes it again.',
      get: 'Install it with `apt-get install packer`, or from https://developer.hashicorp.com/packer/install.',
    },
  ];
}
