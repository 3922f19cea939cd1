import { systemClock } from '#core/clock.ts';
import { CORPUS } from '#gotemplate/corpus/cases.ts';
import { THEMES } from '#gotemplate/functions/registry.ts';
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

const BEGINNING =
  '{{$s := repeat 30000 "aB1"}}{{$w := repeat 15000 "aé\\n "}}{{$l := until 1000}}{{$d := dict}}' +
  '{{range until 500}}{{$_ := set $d (printf "k%d" .) (list . "x")}}{{end}}';
const FIXED = {
  int: '3',
  float64: '1.5',
  bool: 'true',
  map: '$d',
  time: '(toDate "2006-01-02" "2020-01-02")',
  version: '(semver "1.2.3")',
};

/** The arguments of a call: long texts, lists or maps wherever the function takes them. */
const WORDS = [
  { ...FIXED, string: '$s', any: '$s', value: '$s' },
  { ...FIXED, string: '$w', any: '$w', value: '$w' },
  { ...FIXED, string: '"a"', any: '$l', value: '$l' },
  { ...FIXED, string: '"a"', any: '$d', value: '$d' },
];

/** Templates that call one function as often as they may, with the largest arguments; and the function's name. */
function hostileTemplates(): { readonly name: string; readonly text: string }[] {
  const functions = Object.values(THEMES).flatMap((theme) => Object.entries(theme));
  return functions.flatMap(([name, { takes, rest }]) =>
    WORDS.map((words) => {
      const parameters = rest === undefined ? takes : [...takes, rest, rest];
      const call = [name, ...parameters.map((parameter) => words[parameter])].join(' ');
      return { name, text: `${BEGINNING}{{range 1000}}{{range 1000}}{{$x := ${call}}}{{end}}{{end}}` };
    }),
  );
}

/** Processor milliseconds of this thread until the template has rendered or is refused. */
function millisOf(text: string): number {
  const random = (count: number) => new Uint8Array(count).fill(7);
  const before = process.threadCpuUsage();
  try {
    parseTemplates([{ name: 't', text }], { clock: systemClock, random }).render('t', {});
  } catch {
    // Refused at a limit, or because the arguments do not suit the function.
  }
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** The longest of all, each by the better of two turns: the first one also compiles. */
function reportLongest(report: Report): void {
  const took = hostileTemplates().map(({ name, text }) => ({ name, ms: Math.min(millisOf(text), millisOf(text)) }));
  const longest = took.reduce((most, one) => (one.ms > most.ms ? one : most));
  report.figure('template-longest', longest.ms, { note: `${took.length} templates; this one calls ${longest.name}` });
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
  reportLongest(report);
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
  measures: ['template-rate', 'template-rate-go', 'template-share', 'template-longest'],
  limitMs: 600_000,
  run,
};
