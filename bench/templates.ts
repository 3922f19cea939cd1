import { systemClock } from '#core/clock.ts';
import { CORPUS } from '#gotemplate/corpus/cases.ts';
import { parseTemplates } from '#gotemplate/template-set.ts';
import { goValue } from '#gotemplate/value/data.ts';
import { goTemplates } from '../test/real/parts/gotemplate.ts';
import { isMissing } from '../test/real/parts/part.ts';
import type { Bench, Report } from './bench.ts';
import { median } from './parts/numbers.ts';

const ROUNDS = 120;
const QUICK_ROUNDS = 30;
const TURNS = 5;

type Renderer = () => void;

/** Every case of the corpus that renders, with its data ready, as Go has it. */
function renderers(): Renderer[] {
  return CORPUS.flatMap(({ files, data, missingKey = 'default' }) => {
    const value = goValue(data as object) as object;
    const name = files[0]?.name ?? '';
    try {
      const set = parseTemplates(files, { missingKey, clock: systemClock });
      set.render(name, value);
      return [() => void set.render(name, value)];
    } catch {
      return [];
    }
  });
}

/** Processor seconds of that many rounds over the corpus. */
function secondsOf(all: readonly Renderer[], rounds: number): number {
  const before = process.cpuUsage();
  for (let n = 0; n < rounds; n++) for (const render of all) render();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

async function run(report: Report): Promise<void> {
  const rounds = report.isQuick ? QUICK_ROUNDS : ROUNDS;
  const all = renderers();
  const go = await goTemplates();
  const input = JSON.stringify(CORPUS);
  const rates: { ours: number; gos: number }[] = [];
  secondsOf(all, rounds / 4);
  // One after the other, so that a machine that slows down slows both.
  for (let n = 0; n < TURNS; n++) {
    const ours = (all.length * rounds) / secondsOf(all, rounds);
    if (isMissing(go)) {
      rates.push({ ours, gos: 0 });
      continue;
    }
    const { cases, seconds } = JSON.parse(await go.render(['-rounds', String(rounds)], input)) as {
      cases: number;
      seconds: number;
    };
    rates.push({ ours, gos: (cases * rounds) / seconds });
  }
  report.figure('template-rate', median(rates.map(({ ours }) => ours)), {
    note: isMissing(go) ? `no share of Go's: needs ${go.missing}` : `${all.length} templates, median of ${TURNS}`,
  });
  if (isMissing(go)) return;
  report.figure('template-rate-go', median(rates.map(({ gos }) => gos)));
  report.figure('template-share', median(rates.map(({ ours, gos }) => ours / gos)));
}

export const bench: Bench = {
  order: 45,
  name: 'templates',
  measures: ['template-rate', 'template-rate-go', 'template-share'],
  limitMs: 600_000,
  run,
};
