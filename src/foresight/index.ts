import type { Clouds } from '#clouds/clouds.ts';
import type { KnownKinds } from '#config/kinds.ts';
import type { Feature, FeatureBase } from '#core/feature.ts';
import type { Forecasts } from '#core/forecast.ts';
import type { Journal } from '#journal/journal.ts';
import { openForecasts } from './forecast.ts';
import { launchesASession } from './launches-a-session.ts';
import type { ModelThread } from './model-turns.ts';
import { startShadows } from './shadow.ts';
import { startWaitTargets } from './wait-targets.ts';

type Base = FeatureBase<undefined> & {
  readonly journal: Journal;
  readonly clouds: Clouds;
  readonly kinds: KnownKinds;
  readonly model: ModelThread;
};

const feature: Feature<undefined, Forecasts, Base> = {
  id: 'foresight',
  start(base) {
    const { stop: stopShadows, ...shadows } = startShadows(base);
    const targets = startWaitTargets(base);
    return {
      ...openForecasts(base),
      ...shadows,
      launchesASession,
      configure() {},
      async stop() {
        await targets.stop();
        await stopShadows();
      },
    };
  },
};

export default feature;
