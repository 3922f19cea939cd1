import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_S = 100;
const KILOBYTE = 1_024;

/** Processor time that a process and all its threads have used, in microseconds. */
export function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1_000_000) / TICKS_PER_S;
}

/** Processor time that all processes of this machine have used, in microseconds. */
export function machineCpuUs(): number {
  const [user, nice, system, , , irq, softIrq] = readFileSync('/proc/stat', 'latin1').split(/\s+/).slice(1).map(Number);
  const ticks = [user, nice, system, irq, softIrq].reduce((sum: number, each) => sum + (each ?? 0), 0);
  return (ticks * 1_000_000) / TICKS_PER_S;
}

/** Resident memory in bytes: all of it, and that part which no file backs. */
export function memoryOf(pid: number): { readonly rss: number; readonly own: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const read = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * KILOBYTE;
  return { rss: read('VmRSS'), own: read('RssAnon') };
}

/** What all threads of a process have run, in nanoseconds, and how often they were woken. */
export function wakesOf(pid: number): { readonly ranNs: number; readonly wakes: number } {
  let [ranNs, wakes] = [0, 0];
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const read = (file: string): string => readFileSync(`/proc/${pid}/task/${thread}/${file}`, 'latin1');
    ranNs += Number(read('schedstat').split(' ')[0]);
    wakes += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(read('status'))?.[1]);
  }
  return { ranNs, wakes };
}
