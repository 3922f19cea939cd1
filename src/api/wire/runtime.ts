import { z } from 'zod';
import { RUNTIME_PHASES } from '#core/runtime.ts';
import { Labels, listOf, Time } from './shared.ts';

const Grant = z.object({
  host: z.string(),
  audience: z.string(),
  data_dir: z.string().optional(),
  cpu: z.int(),
  memory_gb: z.int(),
  storage_bytes: z.int(),
});

export const Runtime = z
  .object({
    id: z.string(),
    provisioner: z.string(),
    slots: z.int(),
    version: z.string().optional().meta({ description: 'Pinned; absent: the newest that the server knows.' }),
    running_version: z.string().optional().meta({ description: 'The version that was applied last.' }),
    environment: z.enum(['prod', 'dev']),
    annotations: Labels,
    disk_gb: z.int().optional(),
    phase: z.enum(RUNTIME_PHASES),
    since: Time.meta({ description: 'Since when it is in this phase.' }),
    why: z.string().optional().meta({ description: 'What it waits for, or what failed.' }),
    grant: Grant.optional(),
    created_at: Time,
  })
  .meta({ id: 'Runtime' });
export type Runtime = z.infer<typeof Runtime>;
export const RuntimeList = listOf(Runtime);

const slots = z.int().min(1, { error: 'Must be at least 1.' }).max(1_000_000);
const version = z.string().regex(/^[\w][\w.+-]{0,127}$/, {
  error: 'Must be the tag of an image: letters, digits, dots, hyphens and underscores.',
});
const annotationsOf = <V extends z.ZodType>(value: V) =>
  z.record(z.string().min(1).max(253), value).refine((map) => Object.keys(map).length <= 100, {
    error: 'There may be 100 annotations.',
  });
const annotation = z.string().max(4_096);
const environment = z.enum(['prod', 'dev']).optional();
const diskGb = z.int().min(1).max(65_536).optional();

const asked = {
  slots,
  provisioner: z.string().min(1).max(253).optional().meta({ description: 'Absent: the default of the set.' }),
  version: version.optional(),
  environment,
  annotations: annotationsOf(annotation).optional(),
  disk_gb: diskGb.meta({ description: 'Replaces the storage that the slots give.' }),
};

export const RuntimeIn = z.strictObject({ id: z.string().min(1).max(253), ...asked });
export const RenderIn = z.strictObject({ id: z.string().min(1).max(253).optional(), ...asked });

export const RuntimeEdit = z.strictObject({
  slots: slots.optional(),
  version: version.nullable().optional().meta({ description: 'null: no longer pinned.' }),
  environment,
  annotations: annotationsOf(annotation.nullable())
    .optional()
    .meta({ description: 'By name; null: the runtime no longer has it. Others stay.' }),
  disk_gb: diskGb.meta({ description: 'Replaces the storage that the slots give; it can only grow.' }),
  move: z
    .boolean()
    .default(false)
    .meta({ description: 'A static runtime may move to another host, without its data.' }),
});

export const Rendered = z
  .object({
    digest: z.string(),
    grant: Grant,
    manifests: z.array(z.object({ template: z.string(), kind: z.string(), name: z.string(), text: z.string() })),
  })
  .meta({ id: 'RenderedRuntime' });
export type Rendered = z.infer<typeof Rendered>;

export const RuntimeHost = z
  .object({
    host: z.string(),
    provisioners: z.array(z.string()),
    slots: z.int().meta({ description: '0: it has left the set, and runtimes still live there.' }),
    used: z.int(),
    free: z.int(),
    drained: z.boolean(),
    runtimes: z.array(z.string()),
  })
  .meta({ id: 'RuntimeHost' });
export type RuntimeHost = z.infer<typeof RuntimeHost>;
export const RuntimeHostList = listOf(RuntimeHost);

export const HostMove = z
  .object({
    runtime: z.string(),
    slots: z.int(),
    to: z.string().optional().meta({ description: 'Absent: no host has room.' }),
  })
  .meta({ id: 'HostMove' });
export type HostMove = z.infer<typeof HostMove>;
