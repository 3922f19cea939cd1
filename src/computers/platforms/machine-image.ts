// The image of a machine: what the user names, else the newest that Muster has built, by the way of each cloud.
import { z } from 'zod';
import { AGENT_IMAGE } from '#core/image-builder.ts';

/** Asks for the cloud's own image, on which the agent is installed at the first boot. */
const STANDARD = 'standard';

export const machineImage = (builder: string) =>
  z
    .string()
    .min(1)
    .optional()
    .describe(
      `Image; absent: the newest that \`muster image build ${builder}\` has built; \`${STANDARD}\`: the standard image, on which the agent is installed.`,
    );

/** The keys of a backend that name the image; `newest` are those of the newest one built, by its name there. */
export function imageKeys(
  image: string | undefined,
  { key, newest }: { readonly key: string; newest(name: string): Readonly<Record<string, string>> },
): Readonly<Record<string, string>> {
  if (image === STANDARD) return {};
  return image === undefined ? newest(AGENT_IMAGE) : { [key]: image };
}
