import { z } from 'zod';

export const project = z
  .string()
  .regex(/^[a-z][-a-z0-9.:]{4,}[a-z0-9]$/, 'must be the id of a project, like my-project')
  .describe('Id of the project, like `my-project`.');

const PLACE = /^[a-z]+-[a-z]+\d+(-[a-z])?$/;
export const ZONE = z.string().regex(/^[a-z]+(-[a-z0-9]+)*-[a-z]$/, 'must be a zone, like us-central1-a');
export const REGION = z.string().regex(PLACE, 'must be a region, like us-central1');

/** The server sends its token there, so documents of others may not set it. */
export const endpoint = z
  .url({ protocol: /^https?$/ })
  .optional()
  .describe("Endpoint of Compute Engine instead of Google's own; only in the operator's own file.")
  .meta({
    operatorOnly: true,
    shapes: false,
    defaultText: '`CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE`, else Google',
  });
