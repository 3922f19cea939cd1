import { z } from 'zod';
import { machineFields, placeFields } from '../vm/config.ts';

export const VmssConfig = z.strictObject({
  ...placeFields,
  vmssName: z
    .string()
    .regex(/^[\w][\w.-]{0,63}$/, 'must be the name of a scale set')
    .describe('The scale set, with the orchestration mode Flexible. Its profile says what its machines are.'),
  ...machineFields,
});
export type VmssConfig = z.output<typeof VmssConfig>;
