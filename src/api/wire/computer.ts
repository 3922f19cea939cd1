import { z } from 'zod';
import { COMPUTER_STATUSES } from '#core/computer.ts';
import { duration } from '#core/schema.ts';
import { Event } from './event.ts';
import { listOf, Span, Time } from './shared.ts';

const LONGEST_TEXT = 4_096;

const Trouble = z.object({ kind: z.string(), message: z.string(), remedy: z.string().optional(), at: Time });

export const Computer = z
  .object({
    name: z.string(),
    id: z.string(),
    platform: z.string(),
    status: z.enum(COMPUTER_STATUSES),
    why: z.string().optional().meta({ description: 'What it waits for, why it failed, or why it ended.' }),
    by: z.string().meta({ description: 'Who created it; they and admins may use it.' }),
    created_at: Time,
    running_at: Time.optional().meta({ description: 'When it was first seen running.' }),
    ends_at: Time.optional().meta({ description: 'When it ends by itself; absent: never.' }),
    port: z.int().optional().meta({ description: 'The port on which its agent answers `GET /health`.' }),
    endpoints: z
      .array(z.object({ host: z.string(), port: z.int() }))
      .meta({ description: 'Where that port can be reached, as far as the platform says so.' }),
    machine: z.string().optional().meta({ description: 'The name of its machine on the platform.' }),
    agent: z.boolean().meta({ description: 'Whether its agent is connected.' }),
    away_since: Time.optional().meta({ description: 'Since when its agent is away, once it was here.' }),
    failure: Trouble.optional(),
    end: z
      .object({ at: Time, by: z.string(), why: z.string() })
      .optional()
      .meta({ description: 'It is no more: when it ended, who ended it, and why.' }),
  })
  .meta({ id: 'Computer' });
export type Computer = z.infer<typeof Computer>;
export const ComputerList = listOf(Computer);
export type ComputerList = z.infer<typeof ComputerList>;

const Option = z.union([
  z.string().max(LONGEST_TEXT),
  z.number(),
  z.boolean(),
  z.array(z.string().max(LONGEST_TEXT)).max(100),
]);

export const ComputerIn = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(63)
      .meta({ description: 'Small letters, digits and hyphens, beginning with a letter.' }),
    platform: z.string().min(1).max(100).optional().meta({
      description: 'One of `/computer-offers`; in its place `template` or `backend`.',
    }),
    template: z.string().min(1).max(100).optional().meta({ description: "A template of the server's file." }),
    backend: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'A backend as a pool names it: `{"docker": {"image": "…"}}`. Only admins may give one.' }),
    options: z
      .record(z.string().max(100), Option)
      .default({})
      .meta({ description: 'Options of the platform: see `/computer-offers`.' }),
    ttl: z
      .union([z.literal('off'), duration()])
      .optional()
      .meta({
        description: 'How long it lasts; `off`: until it is removed, where the server allows that.',
        examples: ['8h'],
      }),
  })
  .meta({ id: 'ComputerIn' });
export type ComputerIn = z.input<typeof ComputerIn>;

export const ComputerExtension = z.strictObject({
  by: duration().meta({ description: 'From the later of now and its end.', examples: ['2h'] }),
});

export const ComputerWhy = z
  .object({
    computer: Computer,
    waits: z.string().optional().meta({ description: 'What it waits for, or why it failed.' }),
    machine: z
      .object({
        name: z.string(),
        asked_at: Time,
        created_at: Time.optional(),
        joined_at: Time.optional().meta({ description: 'When its agent first joined.' }),
        state: z.string().optional().meta({ description: 'As the platform shows it; absent: it does not show it.' }),
        trouble: z.string().optional(),
      })
      .optional(),
    refusals: z.int().meta({ description: 'Launches that the platform has refused.' }),
    max_retries: z.int(),
    refused: Trouble.extend({ retry_at: Time }).optional().meta({ description: 'The last refusal, and the next try.' }),
    timeout: Span.meta({ description: 'How long it may take until it runs.' }),
    frozen: z.boolean().meta({ description: 'Nothing is done for it while the fleet is frozen.' }),
    events: z.array(Event).meta({ description: 'Newest first.' }),
  })
  .meta({ id: 'ComputerWhy' });
export type ComputerWhy = z.infer<typeof ComputerWhy>;

export const ComputerOffers = z
  .object({
    platforms: z.array(
      z.object({
        name: z.string(),
        about: z.string(),
        needs_admin: z.boolean(),
        options: z.array(z.object({ name: z.string(), about: z.string(), default: z.string().optional() })),
      }),
    ),
    templates: z.array(z.object({ name: z.string(), platform: z.string() })),
  })
  .meta({ id: 'ComputerOffers' });
export type ComputerOffers = z.infer<typeof ComputerOffers>;
