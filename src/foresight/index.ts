import type { Clouds } from '#clouds/clouds.ts';
import type { KnownKinds } from '#config/kinds.ts';
import type { Feature, FeatureBase } from '#core/feature.ts';
import type { Forecasts } from '#core/forecast.ts';
import type { Journal } from '#journal/journal.ts';
import { openForecasts } from './forecast.ts';
import type { ModelThread } from './model-turns.ts';

type Base = FeatureBase<undefined> & {
  readonly journal: Journal;
  readonly clouds: Clouds;
  readonly kinds: KnownKinds;
  readonly model: ModelThread;
};

const feature: Feature<undefined, Forecasts, Base> = {
  id: 'foresight',
  start: (base) => ({ ...openForecasts(base), configure() {}, async stop() {} }),
};

export default feature;
