import { autoPool, poolName } from '#core/auto-pool.ts';
import type { Document } from '#core/provider.ts';
import { launchFields } from '../config.ts';
import type { ChosenType } from './choose-types.ts';
import type { OfferingsConfig } from './config.ts';

function backendOf(config: OfferingsConfig, type: string): Record<string, unknown> {
  const { agentVersionOverride: _unused, ...template } = config.template;
  const { amiId, amiName, amiOwner } = config;
  const isNamed = amiId !== undefined || amiName !== undefined;
  const image = isNamed ? { amiId, amiName, amiOwner } : { amiOwner: amiOwner ?? template.amiOwner };
  return { ...template, ...image, instanceType: type };
}

/** The pool of one type. */
export function documentOf(
  config: OfferingsConfig,
  { type, generation }: ChosenType,
  region: string,
): Document & { text: string } {
  const note = generation === undefined ? '' : `, which "${generation}" means as a generation`;
  return autoPool({
    key: type,
    name: poolName(config.poolPrefix, type),
    description: `${type} in ${config.template.zone ?? region}${note}`,
    shared: config.autoscalerConfig,
    backend: { kind: 'awsLaunchTemplate', fields: launchFields, config: backendOf(config, type) },
  });
}
