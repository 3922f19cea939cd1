// Loaded into a server before its program: notes each second its use of processor time and memory, how long its main thread
// collected garbage, and, where LOOP_DELAY is set, for how long its event loop stood still at most, and how much of that was
// processor time of its own.
import { appendFileSync } from 'node:fs';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const EVERY_MS = 5;
const MINOR = constants.NODE_PERFORMANCE_GC_MINOR;
const garbage = { minorMs: 0, majorMs: 0 };
let longest = { stallMs: 0, stallCpuMs: 0 };
let longestCollectionMs = 0;

const threadMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1e3;
};

function follow() {
  let last = { at: performance.now(), cpuMs: threadMs() };
  setInterval(() => {
    const now = { at: performance.now(), cpuMs: threadMs() };
    const [stallMs, stallCpuMs] = [now.at - last.at - EVERY_MS, now.cpuMs - last.cpuMs];
    longest = { stallMs: Math.max(longest.stallMs, stallMs), stallCpuMs: Math.max(longest.stallCpuMs, stallCpuMs) };
    last = now;
  }, EVERY_MS).unref();
}

function followGarbage() {
  new PerformanceObserver((list) => {
    for (const { duration, detail } of list.getEntries()) {
      garbage[detail.kind === MINOR ? 'minorMs' : 'majorMs'] += duration;
      longestCollectionMs = Math.max(longestCollectionMs, duration);
    }
  }).observe({ entryTypes: ['gc'] });
}

function note() {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  const usage = { cpuMs: (user + system) / 1e3, threadMs: threadMs(), rss, heapUsed, heapTotal, external };
  const line = { at: Date.now(), ...longest, longestCollectionMs, ...garbage, ...usage };
  appendFileSync(process.env.LOOP_DELAY_FILE, `${JSON.stringify(line)}\n`);
  longest = { stallMs: 0, stallCpuMs: 0 };
  longestCollectionMs = 0;
}

// The threads of the server load this too; the processor time of the process is that of all.
if (isMainThread) {
  setInterval(note, 1_000).unref();
  followGarbage();
  // Its timer takes processor time too: not while that is measured.
  if (process.env.LOOP_DELAY) follow();
}
