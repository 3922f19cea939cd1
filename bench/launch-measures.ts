import type { Measure } from './measures.ts';

/** The simulated clouds on which 1,000 workers are asked for at once; AWS has measures of its own. */
export const LAUNCH_CLOUDS = {
  gcp: 'Google Cloud',
  azure: 'Azure',
  nebius: 'Nebius',
  digitalocean: 'DigitalOcean',
  mithril: 'Mithril',
} as const;
export type LaunchCloud = keyof typeof LAUNCH_CLOUDS;

type PerCloud = 'calls' | 'time' | 'cpu' | 'unaccounted';
export type LaunchMeasure = `${LaunchCloud}-launches-${PerCloud}`;

function measuresOf([cloud, title]: readonly [string, string]): Record<string, Measure> {
  return {
    [`${cloud}-launches-calls`]: { what: `creations for 1,000 machines of ${title} asked at once`, unit: 'count' },
    [`${cloud}-launches-time`]: { what: 'asked to made, within the limits of an account', unit: 's' },
    [`${cloud}-launches-cpu`]: { what: 'processor time of that', unit: 'ms' },
    [`${cloud}-launches-unaccounted`]: {
      what: 'machines without a worker, or workers without a machine, after that',
      unit: 'count',
      atMost: 0,
    },
  };
}

export const LAUNCH_MEASURES = Object.assign({}, ...Object.entries(LAUNCH_CLOUDS).map(measuresOf)) as Readonly<
  Record<LaunchMeasure, Measure>
>;
