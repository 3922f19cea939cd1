import { z } from 'zod';
import { type Platform, present, sharedFields } from './platform.ts';

const options = z.strictObject({
  ...sharedFields(300),
  containerName: z.string().min(1).default('commandlab-daemon').describe('Name of the container.'),
  version: z.string().min(1).optional().describe('Version of the image; absent: that of this Muster.'),
  image: z.string().min(1).optional().describe('Image, in place of the one that Muster builds.'),
});

/** The image of a container: the one named, else the agent's in the version asked for. */
export const imageOf = (
  { image, version }: { readonly image?: string | undefined; readonly version?: string | undefined },
  agentImage: string,
): string => image ?? (version === undefined ? agentImage : agentImage.replace(/:[^:/]*$/, `:${version}`));

export const local: Platform<z.output<typeof options>> = {
  summary: "a container of the server's Docker engine",
  needsAdmin: true,
  options,
  backend: ({ containerName, ...given }, { agentImage }) => ({
    docker: present({ image: imageOf(given, agentImage), container_name: containerName }),
  }),
};
