// Kubeconfig files as kubectl reads them: several are merged, and the first to name something wins.
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { Fault } from '#core/fault.ts';

const text = z.string().optional();

const Cluster = z.looseObject({
  server: text,
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': text,
  'proxy-url': text,
  extensions: z.array(z.looseObject({ name: z.string(), extension: z.unknown() })).nullish(),
});

const Exec = z.looseObject({
  apiVersion: text,
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  installHint: text,
  provideClusterInfo: z.boolean().optional(),
  interactiveMode: z.enum(['Never', 'IfAvailable', 'Always']).optional(),
});

const User = z.looseObject({
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  as: text,
  'as-groups': z.array(z.string()).nullish(),
  exec: Exec.nullish(),
  'auth-provider': z.looseObject({ name: text }).nullish(),
});

const Context = z.looseObject({ cluster: z.string(), user: text, namespace: text });

const File = z.looseObject({
  'current-context': text,
  clusters: z.array(z.looseObject({ name: z.string(), cluster: Cluster })).nullish(),
  users: z.array(z.looseObject({ name: z.string(), user: User.nullish() })).nullish(),
  contexts: z.array(z.looseObject({ name: z.string(), context: Context })).nullish(),
});

export type KubeconfigCluster = z.infer<typeof Cluster>;
export type KubeconfigUser = z.infer<typeof User>;
export type KubeconfigContext = z.infer<typeof Context>;
export type ExecSpec = z.infer<typeof Exec>;

/** Something that a file names; paths in it are relative to that file. */
export interface InFile<T> {
  readonly value: T;
  readonly file: string;
}

export interface Kubeconfig {
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, InFile<KubeconfigContext>>;
  readonly clusters: ReadonlyMap<string, InFile<KubeconfigCluster>>;
  readonly users: ReadonlyMap<string, InFile<KubeconfigUser>>;
}

/** A path as a kubeconfig file means it. */
export const pathIn = (file: string, path: string): string => resolve(dirname(file), path);

function readFileText(file: string, written: string): z.infer<typeof File> {
  let value: unknown;
  try {
    value = parse(written) ?? {};
  } catch (thrown) {
    // The first line says what is wrong and where; those after it quote the file, secrets too.
    const [why = ''] = Fault.from(thrown).message.split('\n');
    throw new Fault('invalid', `The kubeconfig ${file} is not YAML: ${why.replace(/:$/, '')}.`, { at: file });
  }
  const { success, data, error } = File.safeParse(value);
  if (success) return data;
  const issue = error.issues[0];
  throw new Fault('invalid', `The kubeconfig ${file} is not valid at ${issue?.path.join('.')}: ${issue?.message}.`, {
    at: file,
    remedy: 'Correct the file; kubectl config view shows how kubectl reads it.',
  });
}

/** Files in the order of KUBECONFIG. */
export function mergeKubeconfigs(files: readonly { readonly file: string; readonly text: string }[]): Kubeconfig {
  const contexts = new Map<string, InFile<KubeconfigContext>>();
  const clusters = new Map<string, InFile<KubeconfigCluster>>();
  const users = new Map<string, InFile<KubeconfigUser>>();
  let currentContext: string | undefined;
  const add = <T>(all: Map<string, InFile<T>>, name: string, entry: InFile<T>): void => {
    if (!all.has(name)) all.set(name, entry);
  };
  for (const { file, text: written } of files) {
    const config = readFileText(file, written);
    currentContext ||= config['current-context'];
    for (const { name, context } of config.contexts ?? []) add(contexts, name, { value: context, file });
    for (const { name, cluster } of config.clusters ?? []) add(clusters, name, { value: cluster, file });
    for (const { name, user } of config.users ?? []) add(users, name, { value: user ?? {}, file });
  }
  return { currentContext: currentContext || undefined, contexts, clusters, users };
}
