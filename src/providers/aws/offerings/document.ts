import { createHash } from 'node:crypto';
import type { Document } from '#core/provider.ts';
import { type ChosenType, poolName } from './choose-types.ts';
import type { OfferingsConfig } from './config.ts';

const DEFAULTS = { maxAgents: 10, minAgents: 0, maxIdleAgents: 1, idleDecay: 60_000 };

// In a document a bare number counts seconds, and inside all durations are milliseconds.
const DURATIONS = new Set([
  'idleDecay',
  'initialDelay',
  'syncLoopInterval',
  'killUnknownAfter',
  'scaleUpErrorRetryDelay',
  'allocationErrorResetAfter',
  'maxInstanceLifetime',
]);

function written(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => [key, DURATIONS.has(key) ? `${value}ms` : value]));
}

function backendOf(config: OfferingsConfig, type: string): Record<string, unknown> {
  const { agentVersionOverride: _unused, ...template } = config.template;
  const { amiId, amiName, amiOwner } = config;
  const isNamed = amiId !== undefined || amiName !== undefined;
  const image = isNamed ? { amiId, amiName, amiOwner } : { amiOwner: amiOwner ?? template.amiOwner };
  return written({ ...template, ...image, instanceType: type });
}

// 64 bits: enough to tell versions of one document apart, short enough to be shown.
const VERSION_DIGITS = 16;

/** The pool of one type, as a document that anybody could have written. */
export function documentOf(
  config: OfferingsConfig,
  { type, generation }: ChosenType,
  region: string,
): Document & { text: string } {
  const scaling = written({ ...DEFAULTS, ...config.autoscalerConfig });
  const note = generation === undefined ? '' : `, which "${generation}" means as a generation`;
  const text = JSON.stringify({
    name: poolName(config.poolPrefix, type),
    description: `${type} in ${config.template.zone ?? region}${note}`,
    autoScaler: { backend: { awsLaunchTemplate: backendOf(config, type) }, ...scaling },
  });
  const version = createHash('sha256').update(text).digest('hex').slice(0, VERSION_DIGITS);
  return { key: type, version, text };
}
