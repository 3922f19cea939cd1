// A plug-in for a real server: the machines that a file names exist, and all that the server asks for is written down.
import { appendFileSync, readFileSync } from 'node:fs';
import type { Machine, Provider } from '#core/provider.ts';
import { openBenchCloud } from '../parts/cloud.ts';
import { machineNow } from '../parts/moments.ts';

const folder = process.env.BENCH_FOLDER ?? '';
const cloud = openBenchCloud();
for (const machine of JSON.parse(readFileSync(`${folder}/machines.json`, 'utf8')) as Machine[]) {
  cloud.machines.set(machine.name, machine);
}
cloud.heard = (call, name) => appendFileSync(`${folder}/calls`, `${machineNow()} ${call} ${name}\n`);

export default cloud.provider satisfies Provider;
