import { z } from 'zod';
import { freeMap } from '#core/schema.ts';

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

const KEY = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u;
const VALUE = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u;
const RULE = 'lower-case letters, digits, "_" and "-", at most 63';
const OURS = /^muster-/;

/** Labels of users beside ours. */
export const labels = freeMap().superRefine((map, context) => {
  const refuse = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message });
  for (const [key, value] of Object.entries(map)) {
    if (!KEY.test(key)) refuse(key, `"${key}" is no key of a label: Google Cloud takes ${RULE}, a letter first`);
    else if (OURS.test(key)) refuse(key, 'must not begin with muster-, which marks what Muster makes');
    else if (!VALUE.test(value)) refuse(key, `"${value}" is no value of a label: Google Cloud takes ${RULE}`);
  }
});
