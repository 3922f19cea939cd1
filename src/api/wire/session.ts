import { z } from 'zod';
import { HOUR_MS } from '#core/clock.ts';
import { SESSION_ENDS, SESSION_NAME, SESSION_PHASES } from '#core/session.ts';
import { SessionFiles, SessionFilesIn } from './file.ts';
import { HttpProblem } from './problem.ts';
import { Labels, listOf, Name, Span, spanIn, Time } from './shared.ts';

const YEAR_MS = 366 * 86_400_000;

const Terminal = z.strictObject({
  columns: z.int().min(1).max(10_000).default(80),
  rows: z.int().min(1).max(10_000).default(24),
  type: z.string().max(100).default('xterm-256color'),
});

// A zero byte ends a string for every program that would receive it.
const Text = z
  .string()
  .max(131_072)
  .regex(/^[^\0]*$/, { error: 'Must not contain a zero byte.' });
const EnvName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,999}$/, {
  error: 'Must be letters, digits and underscores, and begin with no digit.',
});

const SessionName = z.string().regex(SESSION_NAME, {
  error: 'Must be at most 63 letters, digits, dots, underscores and hyphens, and begin with a letter.',
});

const sessionFields = {
  name: SessionName.optional().meta({
    description:
      'Stands for the id. Unended sessions share a name only if they have the same `count` and different `index`.',
  }),
  index: z.int().min(0).optional().meta({
    description:
      'The number of this session among those that are started together; the command sees it as `MUSTER_INDEX`.',
  }),
  count: z.int().min(1).max(1_000_000).optional().meta({
    description: 'How many sessions are started together; the command sees it as `MUSTER_COUNT`.',
  }),
  command: z
    .array(Text)
    .min(1)
    .max(10_000)
    .refine((command) => command[0] !== '', { error: 'The program must have a name.', path: [0] })
    .meta({ description: 'Program and arguments, run without a shell.' }),
  env: z.record(EnvName, Text).default({}),
  cwd: Text.min(1).optional().meta({
    description: 'Working directory: an absolute path of the worker, or with `files` one inside their folder.',
  }),
  files: SessionFilesIn.optional().meta({
    description: 'Files that were uploaded with the same token: the folder that each attempt starts in.',
  }),
  terminal: Terminal.optional(),
  stdin: z.boolean().default(false),
  priority: z.int().min(-1_000_000).max(1_000_000).default(0).meta({ description: 'Lower goes first.' }),
  labels: Labels.default({}).meta({ description: 'Runs only on agents that have all of these labels.' }),
  timeout: spanIn(YEAR_MS).optional(),
  grace: spanIn(HOUR_MS).default(10_000).meta({ description: 'Time between SIGTERM and SIGKILL.' }),
  retries: z
    .int()
    .min(0)
    .max(100)
    .default(0)
    .meta({ description: 'How often the session starts again after its machine was lost.' }),
};

type Part = { readonly index?: number | undefined; readonly count?: number | undefined };
const isPart = ({ index, count }: Part): boolean =>
  (index === undefined) === (count === undefined) && (index ?? 0) < (count ?? 1);
const whyNoPart = { error: 'index and count belong together, and index must be smaller than count.', path: ['index'] };

/** What someone wants to run. */
export const SessionIn = z
  .strictObject({
    pool: Name.optional().meta({
      description: 'By default the only pool, or the pool `local`.',
    }),
    ...sessionFields,
    caller: z
      .strictObject({
        machine_id: z.string().max(64),
        folder: Text.min(1).regex(/^\//, { error: 'Must be absolute.' }),
      })
      .optional()
      .meta({
        description:
          'Where the caller is. If it is on the machine of the server, as `machine_id` of `/server` tells, sessions in pools of that machine start in this folder.',
      }),
  })
  .refine(isPart, whyNoPart)
  .meta({ id: 'SessionIn' });
export type SessionIn = z.input<typeof SessionIn>;

export const MOST_AT_ONCE = 1_000;
/** What someone wants to run on a computer. */
export const ComputerSessionIn = z
  .strictObject(sessionFields)
  .refine(isPart, whyNoPart)
  .meta({ id: 'ComputerSessionIn' });
export type ComputerSessionIn = z.input<typeof ComputerSessionIn>;

export const SessionsIn = z.union([SessionIn, z.array(SessionIn).min(1).max(MOST_AT_ONCE)]);
export const ComputerSessionsIn = z.union([ComputerSessionIn, z.array(ComputerSessionIn).min(1).max(MOST_AT_ONCE)]);

const End = z.object({
  at: Time,
  how: z.enum(SESSION_ENDS),
  exit_code: z.int().meta({ description: 'The exit code that a shell would return.' }),
  signal: z.string().optional(),
  message: z.string().optional(),
});

export const Session = z
  .object({
    id: z.string(),
    name: z.string().optional(),
    index: z.int().optional().meta({ description: 'Its number among the sessions that were started together.' }),
    count: z.int().optional(),
    pool: z.string().optional().meta({ description: 'Absent: it belongs to a computer.' }),
    computer: z.string().optional().meta({ description: 'The computer that it runs on, in place of a pool.' }),
    phase: z.enum(SESSION_PHASES),
    why: z
      .string()
      .optional()
      .meta({ description: 'Why a queued session cannot be placed, if a free slot alone would not help.' }),
    command: z.array(z.string()),
    env_names: z.array(z.string()).meta({ description: 'The values are never shown.' }),
    cwd: z.string().optional(),
    files: SessionFiles.optional(),
    user: z
      .string()
      .optional()
      .meta({ description: "The user of the worker, or `uid:gid`, that it runs as; absent for the agent's own." }),
    terminal: z.boolean(),
    stdin: z.boolean(),
    priority: z.int(),
    labels: Labels,
    timeout: Span.optional(),
    grace: Span,
    retries: z.int(),
    accepted_at: Time,
    by: z.string(),
    attempt: z.int(),
    worker: z.string().optional(),
    placed_at: Time.optional(),
    started_at: Time.optional(),
    kill: z.object({ at: Time, by: z.string(), force: z.boolean() }).optional(),
    output: z
      .object({
        bytes: z.int(),
        is_cut: z.boolean().meta({ description: 'There was more than is kept of one session.' }),
      })
      .optional()
      .meta({
        description: 'How much is kept of its output; exact once it has ended, before that noted now and then.',
      }),
    end: End.optional(),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof Session>;

export const SessionList = listOf(Session);
export type SessionList = z.infer<typeof SessionList>;

/** One line of `application/x-ndjson`. */
export const OutputLine = z
  .object({
    seq: z.int(),
    attempt: z.int(),
    stream: z.enum(['stdout', 'stderr']),
    at: Time,
    data: z.base64(),
  })
  .meta({ id: 'OutputLine' });
export type OutputLine = z.infer<typeof OutputLine>;

/** What a client sends on an attached WebSocket, as JSON text; a binary message is input as it stands. */
export const AttachIn = z.union([
  z.strictObject({ input: z.base64() }),
  z.strictObject({ eof: z.literal(true) }),
  z.strictObject({ resize: z.strictObject({ columns: z.int().min(1).max(10_000), rows: z.int().min(1).max(10_000) }) }),
]);
export type AttachIn = z.infer<typeof AttachIn>;

/** A text message on the WebSocket of a port or copy: this side sends no more bytes. Binary messages are the bytes. */
export const TunnelIn = z.strictObject({ eof: z.literal(true) });
export type TunnelIn = z.infer<typeof TunnelIn>;

/** What the server sends there as text: the worker sends no more bytes, or why the connection failed. */
export const TunnelOut = z.union([TunnelIn, z.object({ problem: HttpProblem })]);
export type TunnelOut = z.infer<typeof TunnelOut>;

/** What the server sends there: pieces of output, then the ended session. */
export const AttachOut = z.union([z.object({ output: OutputLine }), z.object({ end: Session })]);
export type AttachOut = z.infer<typeof AttachOut>;
