// All platforms by the names that users know.
import { toSnake } from '#config/keys.ts';
import { parseWith } from '#config/parse.ts';
import { problemsFault } from '#config/problem.ts';
import { defOf, objectFieldsOf, unwrap } from '#config/schema-walk.ts';
import { nodeOf } from '#config/tree.ts';
import type { PlatformOption } from '#core/computer.ts';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import { aws } from './aws.ts';
import { awsEcs } from './aws-ecs.ts';
import { azure } from './azure.ts';
import { azureContainerInstances } from './azure-container-instances.ts';
import { gcp } from './gcp.ts';
import { gcpCloudRun } from './gcp-cloud-run.ts';
import { awsEks, azureAks, gcpGke, kubernetes } from './kubernetes.ts';
import { local } from './local.ts';
import type { Platform, PlatformContext, SharedOptions } from './platform.ts';

// biome-ignore lint/suspicious/noExplicitAny: each platform has its own options; they are parsed before they are used.
const PLATFORMS: Readonly<Record<string, Platform<any>>> = {
  local,
  aws_ecs: awsEcs,
  aws,
  azure,
  gcp,
  kubernetes,
  aws_eks: awsEks,
  azure_aks: azureAks,
  gcp_gke: gcpGke,
  gcp_cloud_run: gcpCloudRun,
  azure_container_instances: azureContainerInstances,
};

export const platformNames = Object.keys(PLATFORMS);

/** What a platform and its options come to. */
export interface PlatformPlacement extends SharedOptions {
  readonly needsAdmin: boolean;
  /** A backend as a pool names it. */
  readonly backend: Readonly<Record<string, unknown>>;
}

export function platformNamed(name: string): Platform {
  const found = Object.hasOwn(PLATFORMS, name) ? PLATFORMS[name] : undefined;
  if (found) return found;
  const meant = nearest(name, platformNames);
  const remedy = meant === undefined ? `Name one of ${platformNames.join(', ')}.` : `Did you mean ${meant}?`;
  throw new Fault('invalid', `There is no platform ${name}.`, { at: 'platform', remedy });
}

/** Checks the options of a platform; a `Fault` names each that is wrong, unknown or missing. */
export function placeOn(
  name: string,
  given: Readonly<Record<string, unknown>>,
  context: PlatformContext,
): PlatformPlacement {
  const { options, needsAdmin, backend } = platformNamed(name);
  const { value, problems } = parseWith(options, nodeOf(given), { under: 'options' });
  if (problems)
    throw problemsFault(problems, `platform ${name}`, `\`muster computer platforms ${name}\` lists its options.`);
  const { port, maxRetries, timeout } = value;
  return { port, maxRetries, timeout, needsAdmin, backend: backend(value, context) };
}

/** The options of a platform, for help texts. */
export function optionsOf(name: string): readonly PlatformOption[] {
  const fields = objectFieldsOf(unwrap(platformNamed(name).options)) ?? {};
  return Object.entries(fields).map(([key, field]) => {
    const def = defOf(field);
    const usual = def.type === 'default' ? { default: String(def.defaultValue) } : {};
    return { name: toSnake(key), about: unwrap(field).notes.description ?? '', ...usual };
  });
}
