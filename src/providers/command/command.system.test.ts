import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { testBackend } from '#conformance/backend.ts';
import { aLaunch, contextWithLog, OURS, PLANTED_TOKEN } from '#conformance/backend-world.ts';
import { type Clock, HOUR_MS, systemClock } from '#core/clock.ts';
import { FAULTS } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Backend, Context, Machine } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { until } from '#core/testing/until.ts';
import { processStart } from '#host/processes.ts';
import { openCommandBackend } from './backend.ts';
import { CommandConfig } from './config.ts';
import provider from './index.ts';

const signal = new AbortController().signal;
let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'muster-command-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const logged: Readonly<Record<string, unknown>>[] = [];
const keepingLog: Log = (_level, _message, fields = {}) => void logged.push(fields);

function contextFor(dataDir: string, more: Partial<Context> = {}): Context {
  const parts = { cluster: OURS, clock: systemClock, random: systemRandom, log: keepingLog, fetch, agentCommand: [] };
  return { ...parts, shared: openShared(), dataDir, ...more };
}

// A cloud that is a folder: each machine is a file in it. `$mode` says once what goes wrong.
const scriptsOf = (cloud: string) => ({
  start: `
    mode=$(cat ${cloud}/mode 2>/dev/null); rm -f ${cloud}/mode
    case $mode in fail:*) cat "$MUSTER_AGENT_CONFIG" >&2; echo "\${mode#fail:}: told so" >&2; exit 1;; hang) sleep 60;; esac
    echo x >>${cloud}/machines/$WORKER_NAME
    [ "$mode" != lost ] || sleep 60
    echo $WORKER_NAME`,
  stop: `rm ${cloud}/machines/$1`,
  list: `
    mode=$(cat ${cloud}/mode 2>/dev/null); rm -f ${cloud}/mode
    [ "$mode" != hang ] || sleep 60
    [ "$mode" != broken ] || { ls ${cloud}/machines | head -1; echo broken >&2; exit 1; }
    [ -e ${cloud}/hidden ] || ls ${cloud}/machines`,
  // Far more than a script needs on a busy machine: only those that hang wait for it.
  timeout: '5s',
});

testBackend('command', {
  kind: provider.backends.command,
  async openWorld() {
    const cloud = mkdtempSync(join(tmpdir(), 'muster-command-'));
    mkdirSync(join(cloud, 'machines'));
    const lines: string[] = [];
    const setMode = (mode: string): void => writeFileSync(join(cloud, 'mode'), mode);
    return {
      open: (cluster) =>
        openCommandBackend(
          CommandConfig.parse(scriptsOf(cloud)),
          contextWithLog(contextFor(join(cloud, 'data'), { cluster }), lines),
        ),
      // A machine that was made twice has two lines.
      existing: async () =>
        readdirSync(join(cloud, 'machines')).flatMap((name) =>
          readFileSync(join(cloud, 'machines', name), 'utf8')
            .trim()
            .split('\n')
            .map(() => name),
        ),
      during: (call) => call,
      settle: async () => {},
      logged: () => lines.join('\n'),
      loseReply: () => setMode('lost'),
      breakListing: () => setMode('broken'),
      hideFromListings: () => writeFileSync(join(cloud, 'hidden'), ''),
      hang: () => setMode('hang'),
      fail: (kind) => setMode(`fail:${kind}`),
      close: async () => rmSync(cloud, { recursive: true, force: true }),
    };
  },
  canMark: false,
  faults: ['exhausted', 'quota', 'throttled', 'denied', 'unavailable'],
  excuses: {
    'sees its own': 'scripts cannot tell whose a machine is; pools whose scripts list the same machines share them',
    'foreign mark': 'what scripts list bears no mark; a mark that is shown is tried below',
    'true mark': 'what scripts list bears no mark',
    'late failure': 'a script says `failed` of what never came, and leaves it out when it is gone',
  },
});

const open = (config: object, more: Partial<Context> = {}): Promise<Backend> =>
  openCommandBackend(
    CommandConfig.parse({ stop: 'true', list: 'true', ...config }),
    contextFor(join(place, 'data'), more),
  );

/** A clock on which that time has passed once there is that file. */
function clockUntil(limitMs: number, file: string): Clock {
  function ringWhenThere(ring: () => void): () => void {
    let cancel = (): void => {};
    const look = (): void => {
      if (existsSync(file)) ring();
      else cancel = systemClock.alarm(10, look);
    };
    look();
    return () => cancel();
  }
  return {
    ...systemClock,
    alarm: (ms, ring) => (ms === limitMs ? ringWhenThere(ring) : systemClock.alarm(ms, ring)),
  };
}

describe('start', () => {
  it('is fed to bash with its name, pool, launch and the file for the agent, which is gone afterwards', async () => {
    const start = `env | grep -E '^(WORKER|MUSTER)_' | sort >${place}/env
      cat "$MUSTER_AGENT_CONFIG" >${place}/agent.yaml; stat -c %a "$MUSTER_AGENT_CONFIG" >${place}/mode; echo "args=$#"`;
    const backend = await open({ start });
    const outcomes = await backend.create(aLaunch(OURS, ['m-1'], 'launch1'), signal);

    expect(outcomes).toEqual([{ name: 'm-1', machine: 'args=0' }]);
    const env = readFileSync(join(place, 'env'), 'utf8');
    expect(env).toContain('WORKER_NAME=m-1\n');
    expect(env).toContain('MUSTER_POOL=law\n');
    expect(env).toContain('MUSTER_LAUNCH=launch1\n');
    const file = /MUSTER_AGENT_CONFIG=(.*)/.exec(env)?.[1] as string;
    expect(existsSync(file)).toBe(false);
    expect(readFileSync(join(place, 'mode'), 'utf8').trim()).toBe('600');
    expect(parse(readFileSync(join(place, 'agent.yaml'), 'utf8'))).toMatchObject({
      pool: 'law',
      joinToken: PLANTED_TOKEN,
      daemonConfig: { agentName: 'm-1' },
    });
  });

  it.each([
    ['nothing', 'true', {}],
    ['its own name', 'echo "  $WORKER_NAME  "', {}],
    ['another name', 'echo i-0abc', { machine: 'i-0abc' }],
    ['talk and then a name', 'echo creating...; echo; echo "i-0abc running"', { machine: 'i-0abc' }],
  ])('that prints %s is understood', async (_what, start, more) => {
    const backend = await open({ start });

    expect(await backend.create(aLaunch(OURS, ['m-1']), signal)).toEqual([{ name: 'm-1', ...more }]);
  });

  it('that fails leaves the last lines of its stderr in the log, without the token, and not in what viewers see', async () => {
    const start =
      'for i in 1 2 3 4 5 6 7; do echo "line $i" >&2; done; grep joinToken "$MUSTER_AGENT_CONFIG" >&2; exit 3';
    const backend = await open({ start });
    const [outcome] = await backend.create(aLaunch(OURS, ['m-1']), signal);

    expect(outcome?.fault).toMatchObject({ kind: 'unavailable', message: 'The script start returned 3.' });
    expect(logged.at(-1)).toMatchObject({
      script: 'start',
      stderr: ['line 4', 'line 5', 'line 6', 'line 7', 'joinToken: ***'],
    });
  });

  it.each([
    ['exhausted: none left', FAULTS.exhausted.remedy],
    ['no idea', "See what it printed in the server's log, or run it by hand as the server's user."],
  ])('that fails with %j comes with what to do about that', async (said, remedy) => {
    const backend = await open({ start: `echo "${said}" >&2; exit 1` });
    const [outcome] = await backend.create(aLaunch(OURS, ['m-1']), signal);

    expect(outcome?.fault?.remedy).toBe(remedy);
  });

  it('names the line of the script that the user wrote', async () => {
    const backend = await open({ start: 'true\nno-such-program' });
    await backend.create(aLaunch(OURS, ['m-1']), signal);

    expect(logged.at(-1)?.stderr).toEqual([expect.stringContaining('line 2: no-such-program: command not found')]);
  });

  it('that takes too long is killed with all it started, and what it did stays open', async () => {
    const start = `sleep 300 & echo $! >${place}/new; mv ${place}/new ${place}/child; wait`;
    const backend = await open({ start, timeout: '1h' }, { clock: clockUntil(HOUR_MS, join(place, 'child')) });
    const outcomes = await backend.create(aLaunch(OURS, ['m-1']), signal);

    expect(outcomes).toEqual([]);
    const child = Number(readFileSync(join(place, 'child'), 'utf8'));
    await until('its child to end', () => processStart(child) === undefined);
  });

  it('may leave something running in the background, which lives on', async () => {
    const backend = await open({ start: `sleep 300 & echo $! >${place}/child` });
    await backend.create(aLaunch(OURS, ['m-1']), signal);
    const child = Number(readFileSync(join(place, 'child'), 'utf8'));

    expect(processStart(child)).toBeDefined();
    process.kill(child, 'SIGKILL');
  });

  it('keeps the server from starting the same name while a script of a dead server still runs', async () => {
    const scripts = {
      start: `echo x >>${place}/made; sleep 0.4; touch ${place}/$WORKER_NAME`,
      list: `ls ${place} | grep m-`,
    };
    const url = (path: string): string => new URL(path, import.meta.url).href;
    const program = `
      const { openCommandBackend } = await import('${url('./backend.ts')}');
      const { CommandConfig } = await import('${url('./config.ts')}');
      const { systemClock } = await import('${url('../../core/clock.ts')}');
      const { systemRandom } = await import('${url('../../core/random.ts')}');
      const [scripts, dataDir, launch] = process.argv.slice(1).map((text) => JSON.parse(text));
      const context = { cluster: 'cluster1', clock: systemClock, random: systemRandom, log() {}, dataDir, agentCommand: [] };
      const backend = await openCommandBackend(CommandConfig.parse({ stop: 'true', ...scripts }), context);
      await backend.create(launch, new AbortController().signal);`;
    const words = [scripts, join(place, 'data'), aLaunch(OURS, ['m-1'])].map((word) => JSON.stringify(word));
    const server = spawn(process.execPath, ['--input-type=module', '-e', program, ...words], { stdio: 'ignore' });
    await until('the script', () => existsSync(join(place, 'made')));
    server.kill('SIGKILL');

    const backend = await open(scripts);
    const outcomes = await backend.create(aLaunch(OURS, ['m-1']), signal);

    expect(outcomes).toEqual([{ name: 'm-1' }]);
    expect(readFileSync(join(place, 'made'), 'utf8')).toBe('x\n');
  });
});

describe('batch_start', () => {
  it('makes several at once, with their count and a label', async () => {
    const backend = await open({
      batchStart: `echo "$1 $2 $WORKER_NAMES" >${place}/args; echo i-1; echo i-2; echo i-3`,
    });
    const outcomes = await backend.create(aLaunch(OURS, ['m-1', 'm-2', 'm-3'], 'launch1'), signal);

    expect(readFileSync(join(place, 'args'), 'utf8')).toBe('3 launch1 m-1 m-2 m-3\n');
    expect(outcomes).toEqual([
      { name: 'm-1', machine: 'i-1' },
      { name: 'm-2', machine: 'i-2' },
      { name: 'm-3', machine: 'i-3' },
    ]);
  });

  it('that prints fewer names leaves the others open, and is asked only for those when repeated', async () => {
    const batchStart = `echo "$1" >>${place}/args; [ "$1" = 1 ] && echo i-9 || { echo i-1; echo i-2; }`;
    const backend = await open({ batchStart });
    const launch = aLaunch(OURS, ['m-1', 'm-2', 'm-3']);
    const first = await backend.create(launch, signal);
    const second = await backend.create(launch, signal);
    const third = await backend.create(launch, signal);

    expect(first.map(({ name }) => name)).toEqual(['m-1', 'm-2']);
    expect(second.map(({ machine }) => machine)).toEqual(['i-1', 'i-2', 'i-9']);
    expect(third).toEqual(second);
    expect(readFileSync(join(place, 'args'), 'utf8')).toBe('3\n1\n');
  });

  it('is not asked for one; then start is, and the other way round', async () => {
    const backend = await open({ batchStart: 'echo batch', start: 'echo single' });
    const alone = await open({ start: 'echo "i-$WORKER_NAME"' });

    expect(await backend.create(aLaunch(OURS, ['m-1']), signal)).toEqual([{ name: 'm-1', machine: 'single' }]);
    const names = Array.from({ length: 6 }, (_, at) => `m-x${at}`);
    const outcomes = await alone.create(aLaunch(OURS, names), signal);
    expect(outcomes).toEqual(names.map((name) => ({ name, machine: `i-${name}` })));
  });
});

describe('list', () => {
  it('reads a name a line, and a word for what it does', async () => {
    const list = `printf 'w-1\\n\\n  w-2  running\\nw-3\\tdeleting\\nw-4 Pending\\nw-5 terminated\\nw-6 whatever it is\\nw-1\\n'`;
    const backend = await open({ start: 'true', list });
    const states = (await backend.list(signal)).map(({ name, state }) => `${name} ${state}`);

    expect(states).toEqual(['w-1 running', 'w-2 running', 'w-3 deleting', 'w-4 creating', 'w-6 running']);
  });

  it('that takes too long is a fault', async () => {
    const backend = await open({ start: 'true', list: 'echo w-1; sleep 60', timeout: '200ms' });

    await expect(backend.list(signal)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('that prints without end is a fault', async () => {
    const backend = await open({ start: 'true', list: 'yes' });

    await expect(backend.list(signal)).rejects.toThrow('printed too much output');
  });

  it('is one cloud for equal scripts and another for others', async () => {
    const [one, same, other] = await Promise.all([
      open({ start: 'a' }),
      open({ start: 'a', timeout: '1m' }),
      open({ start: 'b' }),
    ]);

    expect(one?.cloud).toBe(same?.cloud);
    expect(one?.cloud).not.toBe(other?.cloud);
  });
});

describe('stop', () => {
  const machine: Machine = { name: 'w-1', mark: undefined, createdAt: 0, state: 'running' };

  it('gets the name as $1 and as WORKER_NAME, whatever it looks like', async () => {
    const backend = await open({ start: 'true', stop: `printf '%s|%s' "$1" "\${WORKER_NAME}" >${place}/stopped` });
    const odd = `-e it's`;
    await backend.delete([{ ...machine, name: odd }], signal);

    expect(readFileSync(join(place, 'stopped'), 'utf8')).toBe(`${odd}|${odd}`);
  });

  it('that fails is a fault while the machine is listed, and a success when it is not', async () => {
    const backend = await open({ start: 'true', stop: 'echo no >&2; exit 1', list: 'echo w-1' });
    const outcomes = await backend.delete([machine, { ...machine, name: 'w-2' }], signal);

    expect(outcomes[0]?.fault?.message).toBe('The script stop returned 1.');
    expect(outcomes[1]).toEqual({ name: 'w-2' });
  });

  it('that fails for a machine which one listing alone leaves out is a failure', async () => {
    const list = `[ -e ${place}/listed ] && echo w-1; touch ${place}/listed`;
    const backend = await open({ start: 'true', stop: 'exit 1', list });
    const outcomes = await backend.delete([{ name: 'w-1', mark: undefined, createdAt: 0, state: 'running' }], signal);

    expect(outcomes[0]?.fault?.message).toBe('The script stop returned 1.');
  });

  it('is not run for what is shown with a foreign mark', async () => {
    const backend = await open({ start: 'true', stop: `touch ${place}/stopped` });
    const foreign: Machine = { ...machine, mark: { cluster: 'other', use: 'worker', owner: 'p', shape: 's' } };
    const [outcome] = await backend.delete([foreign], signal);

    expect(outcome?.fault?.kind).toBe('denied');
    expect(existsSync(join(place, 'stopped'))).toBe(false);
  });
});

describe('the configuration', () => {
  it('needs a way to start', () => {
    expect(CommandConfig.safeParse({ stop: 'true', list: 'true' }).error?.message).toContain(
      'needs start or batch_start',
    );
  });
});
