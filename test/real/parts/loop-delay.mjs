// Loaded into a server before its program: notes each second how long its event loop stood still at most, and its use of
// processor time and memory.
import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const note = () => {
  const { user, system } = process.cpuUsage();
  const line = {
    at: Date.now(),
    stallMs: delay.max / 1e6,
    cpuMs: (user + system) / 1e3,
    rss: process.memoryUsage.rss(),
  };
  appendFileSync(process.env.LOOP_DELAY_FILE, `${JSON.stringify(line)}\n`);
  delay.reset();
};
// The threads of the server load this too; the processor time is that of all.
if (isMainThread) setInterval(note, 1_000).unref();
