// A forecast for a pool that is only a document: nothing is known of its machines but what the document says.
import { readPool } from '#config/pool-document.ts';
import { problemsFault } from '#config/problem.ts';
import { systemClock } from '#core/clock.ts';
import { answerOf, comparedPolicies, mustScale, questionOf } from '#foresight/forecast.ts';
import { givenDemand } from '#foresight/forecast-demand.ts';
import { openModelLink } from '#foresight/model-link.ts';
import { checked } from '../api/checked.ts';
import { givenIn } from '../api/forecasts.ts';
import { shownForecast } from '../api/shown/forecast.ts';
import * as wire from '../api/wire/forecast.ts';
import type { LocalForecast } from '../cli/command.ts';
import { loadKinds } from './kinds.ts';

export async function localForecast(
  { document, ...asked }: LocalForecast,
  signal: AbortSignal,
): Promise<wire.Forecast> {
  const kinds = await loadKinds([]);
  const { spec, problems } = readPool(document.text, { kinds: kinds.backends, trust: 'operator' });
  if (!spec) throw problemsFault(problems, document.key, 'Correct these problems.');
  mustScale(spec);
  const { set, seed, ...given } = checked(wire.ForecastIn, { pool: spec.name, ...asked }, 'body');
  const compared = comparedPolicies(spec, set, kinds);
  const demand = givenDemand(givenIn(given), systemClock.now());
  const offers = spec.offers.map(({ id }) => ({ id, ...spec.terms?.[id] }));
  const whole = { ...demand, machines: [], notes: [], offers, seed };
  const link = openModelLink(systemClock);
  try {
    const answer = await link.ask(questionOf(compared, { ...whole, slots: (scaling) => scaling }), signal);
    return shownForecast(spec.name, set, answerOf(answer, { ...whole, ...compared }));
  } finally {
    await link.close();
  }
}
