// Building blocks for configuration schemas. Keys are camelCase here; the config edge maps what users write.
import { z } from 'zod';
import { parseDuration } from './duration.ts';
import { Fault } from './fault.ts';

/** A Go duration or a number of seconds; milliseconds inside. */
export function duration() {
  return z
    .union([z.string(), z.number()])
    .transform((text, context) => {
      try {
        return parseDuration(text);
      } catch (thrown) {
        const fault = Fault.from(thrown);
        context.addIssue({ code: 'custom', message: `${fault.message} ${fault.remedy}` });
        return z.NEVER;
      }
    })
    .meta({ format: 'duration', examples: ['60s', '5m', '1h30m'] });
}

/** A value that must never be shown: not in logs, events, answers or process lists. */
export function secret() {
  return z.string().meta({ secret: true });
}

/** A whole number from `least` on. */
export function count(least = 0) {
  return z.int().min(least);
}

/** A map whose keys are the user's own: they are taken as they stand, never renamed. */
export function freeMap() {
  return z.record(z.string(), z.coerce.string());
}
