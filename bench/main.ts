// npm run bench [-- --json] [-- --quick] [-- --only name…]: figures, each beside what is good enough on this machine.
import { parseArgs } from 'node:util';
import { runApart, runHere } from './apart.ts';
import type { Bench, Figure } from './bench.ts';
import { describeMachine, heading, jsonLine, tableLine } from './print.ts';
import { BENCHES } from './registry.ts';
import { type Measured, YARDSTICKS, type YardstickName } from './yardsticks.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    // Runs one bench in this very process and tells its parent.
    here: { type: 'string' },
  },
});

function chosen(): readonly Bench[] {
  const names = [...values.only, ...positionals].flatMap((name) => name.split(','));
  const unknown = names.find((name) => !BENCHES.some((bench) => bench.name === name));
  if (unknown !== undefined) {
    process.stderr.write(`There is no bench "${unknown}"; there are ${BENCHES.map(({ name }) => name).join(', ')}.\n`);
    process.exit(2);
  }
  return names.length === 0 ? BENCHES : BENCHES.filter(({ name }) => name === 'machine' || names.includes(name));
}

const measured: Measured = {};

function print(figure: Figure): void {
  if (figure.name in YARDSTICKS) measured[figure.name as YardstickName] = figure.value;
  process.stdout.write(`${values.json ? jsonLine(figure, measured) : tableLine(figure, measured)}\n`);
}

async function runAll(): Promise<void> {
  let hasFailed = false;
  if (!values.json) process.stdout.write(`${describeMachine()}\n\n${heading()}\n`);
  for (const bench of chosen()) {
    const failure = await runApart(bench, { isQuick: values.quick, print });
    if (failure === undefined) continue;
    hasFailed = true;
    process.stderr.write(`${bench.name} failed: ${failure}\n`);
  }
  process.exitCode = hasFailed ? 1 : 0;
}

const here = BENCHES.find(({ name }) => name === values.here);
if (here) await runHere(here, values.quick);
else await runAll();
