import { z } from 'zod';
import { engineFields } from '../config.ts';

// The base of deploy/docker/agent.Dockerfile: the agent of an image runs by the Node of its base.
const BASE = 'node:24-bookworm-slim';

export const DockerImageConfig = z.strictObject({
  base: z
    .string()
    .min(1)
    .default(BASE)
    .describe('Image that it starts from. It must have a shell and Node 24.15 or newer.'),
  ...engineFields,
  network: z
    .string()
    .min(1)
    .optional()
    .describe('Network of the steps: `bridge`, `host`, `none`, or the name of one.')
    .meta({ defaultText: "the engine's own" }),
});
export type DockerImageConfig = z.output<typeof DockerImageConfig>;
