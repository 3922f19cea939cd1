import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOUR_MS } from '#core/clock.ts';
import { type BuildMark, type BuiltImage, type ImageBuilder, recipeOf, stepFailed } from '#core/image-builder.ts';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { buildImage, needsFault } from './build.ts';
import { mustBeRepository, mustBeVersion } from './names.ts';
import { openOutputLog } from './output-log.ts';

const RECIPE = recipeOf({
  name: 'muster-agent',
  version: '1.2.0',
  base: 'b',
  files: [],
  steps: ['true', 'exit 7'],
  ports: [],
  entry: [],
});
const IMAGE: BuiltImage = {
  ...RECIPE,
  recipe: RECIPE.hash,
  ids: { '': 'id1' },
  reference: 'muster-agent:1.2.0',
  builtAt: 1,
};
const RUNNER = { pid: 1, start: 'now' };
const quiet = { step() {}, line() {} };

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'muster-builds-')), 'builds');
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

const builderOf = (over: Partial<ImageBuilder>): ImageBuilder => ({
  cloud: 'memory',
  needs: async () => [],
  target: async () => ({ form: 'container', base: 'b', machine: 'x86_64' }),
  files: () => ({ Dockerfile: 'FROM b' }),
  find: async () => undefined,
  build: async () => IMAGE,
  list: async () => [],
  drop: async () => {},
  ...over,
});

function build(
  over: Partial<ImageBuilder>,
  {
    push,
    signal = new AbortController().signal,
    clock = new VirtualClock(),
  }: { push?: string; signal?: AbortSignal; clock?: VirtualClock } = {},
) {
  const isAlive = ({ pid }: { pid: number }): boolean => pid === RUNNER.pid;
  const place = { clock, random: seededRandom(1), folder, runner: RUNNER, isAlive };
  return buildImage({ builder: builderOf(over), recipe: RECIPE, push }, place, quiet, signal);
}

describe('a build', () => {
  it('of an equal recipe is not begun: the image that is there is the answer', async () => {
    const calls: string[] = [];
    const noting =
      <T>(name: string, answer: T) =>
      async (): Promise<T> => {
        calls.push(name);
        return answer;
      };
    const end = await build({
      find: noting('find', IMAGE),
      clean: noting('clean', []),
      build: noting('build', IMAGE),
    });

    expect(end).toMatchObject({ isBuilt: false, image: IMAGE });
    expect(calls).toEqual(['find']);
  });

  it('gets a folder that only its user can read, with the files of the builder, which is gone afterwards', async () => {
    let seen: object = {};
    const end = await build({
      async build(_recipe, run) {
        const mode = (statSync(run.folder).mode & 0o777).toString(8);
        seen = { mode, text: readFileSync(join(run.folder, 'Dockerfile'), 'utf8'), folder: run.folder };
        return IMAGE;
      },
    });

    expect(end.fault).toBeUndefined();
    expect(seen).toMatchObject({ mode: '700', text: 'FROM b' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('whose step fails says the step, its exit code and the last 20 lines of that step', async () => {
    const end = await build({
      async build(recipe, { step, line }) {
        step('true');
        line('of the step before');
        step('exit 7');
        for (let at = 1; at <= 30; at++) line(`line ${at}`);
        throw stepFailed(recipe, 2, 7);
      },
    });

    expect(end.image).toBeUndefined();
    const lines = end.fault?.message.split('\n') ?? [];
    expect(lines[0]).toBe('Step 2 of 2 ended with exit code 7: exit 7');
    expect(lines.slice(1)).toEqual(Array.from({ length: 20 }, (_, at) => `  line ${at + 11}`));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('that is given up says so, and nothing else', async () => {
    const giveUp = new AbortController();
    const end = await build(
      {
        async build() {
          giveUp.abort();
          throw new Error('socket closed');
        },
      },
      { signal: giveUp.signal },
    );

    expect(end.fault).toMatchObject({ kind: 'unavailable', message: 'The build was cancelled.' });
  });

  it('first removes what killed builds have left, and nothing of those that run', async () => {
    const clock = new VirtualClock();
    const place = (id: string, pid: number): void => {
      mkdirSync(join(folder, id), { recursive: true });
      writeFileSync(join(folder, id, 'runner.json'), JSON.stringify({ pid, start: 'now' }));
    };
    place('dead1', 99);
    place('living1', RUNNER.pid);
    const nowMs = clock.now();
    const marks: BuildMark[] = [
      { id: 'dead1', startedAt: nowMs },
      { id: 'living1', startedAt: nowMs - 9 * HOUR_MS },
      { id: 'elsewhere1', startedAt: nowMs - HOUR_MS },
      { id: 'elsewhere2', startedAt: nowMs - 7 * HOUR_MS },
      { id: '../x', startedAt: nowMs },
    ];
    const over: string[] = [];
    const end = await build(
      {
        async clean(isOver) {
          over.push(...marks.filter(isOver).map(({ id }) => id));
          return ['machine 1'];
        },
      },
      { clock },
    );

    expect(over).toEqual(['dead1', 'elsewhere2']);
    expect(end.log).toEqual(['removed machine 1, which an earlier build has left']);
    expect(existsSync(join(folder, 'dead1'))).toBe(false);
    expect(existsSync(join(folder, 'living1'))).toBe(true);
  });

  it('that cannot go to a registry keeps its image and says why', async () => {
    const end = await build({}, { push: 'registry.test/agent' });

    expect(end).toMatchObject({ image: IMAGE, isBuilt: true, fault: { kind: 'unsupported' } });
  });
});

it('what is missing is said with its reason and how to get it', () => {
  const fault = needsFault([{ program: 'packer', why: 'It builds machines.', get: 'See https://packer.test.' }]);

  expect([fault.message, fault.remedy]).toEqual(['packer is missing: It builds machines.', 'See https://packer.test.']);
});

describe('a version', () => {
  it.each(['1.2.0', '0.0.1', '1.2.0-rc.1', '10.20.30-a-b'])('like %s is taken', (text) => {
    expect(mustBeVersion(text)).toBe(text);
  });

  it.each(['latest', '1.2', 'v1.2.0', '1.2.0+build', '1.2.0 ', '01.2.0', '1.2.0-RC', ''])(
    'like %j is refused',
    (text) => {
      expect(() => mustBeVersion(text)).toThrow('is no version');
    },
  );
});

describe('the name of a registry', () => {
  it.each(['registry.example.com/team/muster-agent', 'localhost:5000/agent', '127.0.0.1:5000/a/b-c', 'team/agent'])(
    'like %s is taken',
    (text) => {
      expect(() => mustBeRepository(text)).not.toThrow();
    },
  );

  it.each([
    'agent',
    'registry.test/agent:1.2.0',
    'Registry/Agent',
    'registry.test/',
    'https://registry.test/agent',
    '',
  ])('like %j is refused', (text) => {
    expect(() => mustBeRepository(text)).toThrow('is no name of a registry');
  });
});

describe('the log of a build', () => {
  it('keeps its beginning and its end, and says how much is missing between them', () => {
    const log = openOutputLog(quiet);
    for (let at = 1; at <= 10_000; at++) log.line(`line ${at}`);
    const kept = log.kept();

    expect(kept).toHaveLength(2_001);
    expect([kept[0], kept[199], kept[200], kept[201], kept.at(-1)]).toEqual([
      'line 1',
      'line 200',
      '… 8000 lines are missing here',
      'line 8201',
      'line 10000',
    ]);
  });
});
