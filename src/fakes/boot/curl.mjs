// Stands for `curl` on the machines of fake clouds, with the options that boot scripts use.
import { createWriteStream, readFileSync } from 'node:fs';
import { request as plain } from 'node:http';
import { request as encrypted } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';

const TEXT = { type: 'string' };
const FLAG = { type: 'boolean' };
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    fail: { ...FLAG, short: 'f' },
    silent: { ...FLAG, short: 's' },
    'show-error': { ...FLAG, short: 'S' },
    request: { ...TEXT, short: 'X' },
    header: { ...TEXT, short: 'H', multiple: true, default: [] },
    config: { ...TEXT, short: 'K' },
    output: { ...TEXT, short: 'o' },
    cacert: TEXT,
    'data-binary': TEXT,
    noproxy: TEXT,
    // The services of a fake machine are there before its scripts run: nothing is tried twice.
    retry: TEXT,
    'retry-connrefused': FLAG,
  },
});

function fail(code, text) {
  if (values['show-error'] || !values.silent) process.stderr.write(`curl: (${code}) ${text}\n`);
  process.exit(code);
}

const settings = values.config === '-' ? readFileSync(0, 'utf8') : '';
const hidden = [...settings.matchAll(/^header = "(.*)"$/gm)].map(([, header]) => header);
const headers = [...values.header, ...hidden].map((line) => /^([^:]+):\s*(.*)$/.exec(line).slice(1));
const body = values['data-binary'];
const method = values.request ?? (body === undefined ? 'GET' : 'POST');
const [url = ''] = positionals;
const ca = values.cacert === undefined ? undefined : readFileSync(values.cacert);

const request = (url.startsWith('https:') ? encrypted : plain)(url, {
  method,
  ca,
  headers: Object.fromEntries(headers),
});
request.on('error', (error) => fail(error.code === 'ECONNREFUSED' ? 7 : 60, error.message));
request.on('response', async (response) => {
  if (values.fail && response.statusCode >= 400) fail(22, `The requested URL returned error: ${response.statusCode}`);
  await pipeline(response, values.output === undefined ? process.stdout : createWriteStream(values.output));
});
request.end(body);
