// What users write under `schedules` and `wait_target` of an `auto_scaler`.
import { z } from 'zod';
import { nearest } from './nearest.ts';
import { minuteOf, WEEKDAYS } from './schedule.ts';
import { count, duration, oneOrMore } from './schema.ts';

const FULL_DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const DAY_WORDS = [...WEEKDAYS, ...FULL_DAYS];

const shortDay = (word: string): string => word.trim().toLowerCase().slice(0, 3);

function unknownDay(part: string): string | undefined {
  for (const word of part.split('-')) {
    const written = word.trim().toLowerCase();
    if (DAY_WORDS.includes(written)) continue;
    const meant = nearest(written, DAY_WORDS);
    return `has "${word.trim()}", which is no day; ${meant ? `did you mean ${meant}?` : 'write days like mon-fri or sat,sun'}`;
  }
  return part.split('-').length > 2 ? `has "${part}", which is no range; write days like mon-fri` : undefined;
}

/** `mon-fri`, `Sat, Sun`, or a list of such; inside always one text in short words. */
function days() {
  return oneOrMore(z.string().min(1))
    .transform((texts, context): string => {
      const parts = texts.flatMap((text) => text.split(','));
      const message = parts.flatMap((part) => unknownDay(part) ?? [])[0];
      if (message === undefined) return parts.map((part) => part.split('-').map(shortDay).join('-')).join(',');
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ examples: ['mon-fri', 'sat,sun'] });
}

const clockTime = (isEnd: boolean) =>
  z
    .string()
    .refine(
      (text) => minuteOf(text) !== undefined && (isEnd || text !== '24:00'),
      isEnd ? 'must be a time like "18:00", at most "24:00"' : 'must be a time like "08:00", at most "23:59"',
    )
    .meta({ examples: [isEnd ? '18:00' : '08:00'] });

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The last word of a name is what people remember: `Berlin`. */
function nearestZone(written: string): string | undefined {
  const zones = Intl.supportedValuesOf('timeZone');
  const city = (name: string): string => name.slice(name.lastIndexOf('/') + 1).toLowerCase();
  return nearest(written, zones) ?? zones.find((zone) => city(zone) === city(written));
}

const timezone = () =>
  z.string().superRefine((name, context) => {
    if (isZone(name)) return;
    const meant = nearestZone(name);
    const message = `is not a known time zone; ${meant ? `did you mean ${meant}?` : 'write one like Europe/Berlin'}`;
    context.addIssue({ code: 'custom', message });
  });

const limits = {
  minAgents: count().optional().describe('`min_agents` in this window.'),
  maxAgents: count().optional().describe('`max_agents` in this window.'),
  minIdleAgents: count().optional().describe('`min_idle_agents` in this window.'),
  maxIdleAgents: count().optional().describe('`max_idle_agents` in this window.'),
};

const schedule = z
  .object({
    name: z.string().min(1).max(100).optional().describe('What the window is called in reasons.'),
    days: days().optional().describe('Days on which the window begins. Default: every day.'),
    from: clockTime(false).describe('Local time at which it begins.'),
    to: clockTime(true).describe('Local time at which it ends; where it is not after `from`, on the next day.'),
    timezone: timezone().default('UTC').describe('Time zone, by its name in the IANA database.'),
    ...limits,
  })
  .superRefine(({ from, to }, context) => {
    if (from !== to) return;
    const message = `is the same as from; write from: "00:00" and to: "24:00" for a whole day`;
    context.addIssue({ code: 'custom', path: ['to'], message });
  });

/** The keys of `auto_scaler` by which its limits follow the time of day and the demand. */
export const foresightFields = {
  schedules: z
    .array(schedule)
    .optional()
    .describe(
      'Windows of local time with other limits; of windows that are open together the largest value of each limit holds. Workers that a window keeps idle are launched earlier, so that they are ready when it begins.',
    ),
  waitTarget: z
    .object({
      p95: duration(1).describe('95 of 100 sessions are to start within this time.'),
      maxIdleAgents: count(1).describe('Most idle slots that the server may keep for it.'),
    })
    .optional()
    .describe('Instead of `min_idle_agents`: how long sessions may wait. The server chooses the idle slots.'),
};
