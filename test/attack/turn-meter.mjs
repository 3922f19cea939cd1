// Loaded into the server of an attack: how much processor time the longest turn of its event loop took, and how much
// went by from a request of the other caller to its answer. What works holds up everybody; waiting for a core because
// the machine is busy does not count.
import { subscribe } from 'node:diagnostics_channel';
import { createServer } from 'node:net';
import { threadCpuUsage } from 'node:process';
import { isMainThread } from 'node:worker_threads';

const LOOK_EVERY_MS = 5;
const path = process.env.MUSTER_TURN_METER;

if (isMainThread && path && process.argv.includes('server')) {
  const usedMs = () => {
    const { user, system } = threadCpuUsage();
    return (user + system) / 1_000;
  };
  let before = usedMs();
  let longestMs = 0;
  // A timer runs once a turn at most: between two of them lie one long turn, or short ones for as long as its interval.
  setInterval(() => {
    const now = usedMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
  }, LOOK_EVERY_MS).unref();
  let longestAnswerMs = 0;
  const begun = new WeakMap();
  const isOthers = ({ headers }) => headers['x-other-caller'] !== undefined;
  subscribe('http.server.request.start', ({ request }) => {
    if (isOthers(request)) begun.set(request, usedMs());
  });
  subscribe('http.server.response.finish', ({ request }) => {
    const at = begun.get(request);
    if (at !== undefined) longestAnswerMs = Math.max(longestAnswerMs, usedMs() - at);
  });
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(JSON.stringify({ turnMs: longestMs, answerMs: longestAnswerMs }));
    longestMs = 0;
    longestAnswerMs = 0;
  });
  server.listen(path);
  server.unref();
}
