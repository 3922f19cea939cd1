import { describe, expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { LoadedConfig } from './load.ts';
import { watchConfig } from './reload.ts';
import { readServerFile } from './server-file.ts';
import { standInKinds, testEnvironment } from './testing.ts';

function loaded(text: string, files: readonly string[] = ['/m.yaml'], signature?: string): LoadedConfig {
  const { value: config } = readServerFile(text, { kinds: standInKinds, environment: testEnvironment() });
  if (!config) throw new Fault('invalid', `bad: ${text}`);
  return { config, file: '/m.yaml', files, signature, version: text, warnings: [] };
}

/** One file that the test writes, and all that the watch says of it; `then` is what it holds once it has been read first. */
function world(first = 'data_dir: /a', then = first) {
  const clock = new VirtualClock();
  const disk = {
    text: then,
    stamp: then === first ? 1 : 2,
    files: ['/m.yaml'] as readonly string[],
    loads: 0,
    whileReading: (): void => {},
  };
  const heard: string[] = [];
  const watched: (readonly string[])[] = [];
  let notice = (): void => {};
  const watch = watchConfig({
    clock,
    current: loaded(first, disk.files, '1'),
    load: async () => {
      disk.loads += 1;
      const { text, files } = disk;
      disk.whileReading();
      return loaded(text, files);
    },
    changed: (next, needRestart) => heard.push(`changed ${next.version} [${needRestart}]`),
    refused: (fault) => heard.push(`refused ${fault.message}`),
    files: {
      signature: () => String(disk.stamp),
      watch(paths, noticed) {
        watched.push(paths);
        notice = noticed;
        return () => {
          notice = () => {};
        };
      },
    },
  });
  const write = (text: string): void => {
    disk.text = text;
    disk.stamp += 1;
  };
  return { clock, disk, heard, watched, watch, write, notice: () => notice() };
}

describe('watchConfig', () => {
  it('says that all is well again when a mistake is taken back, though nothing has changed in the end', async () => {
    const { clock, heard, write, notice } = world();

    for (const text of ['data_dri: /a', 'data_dir: /a', 'data_dir: /a']) {
      write(text);
      notice();
      await clock.advance(300);
    }

    expect(heard).toEqual(['refused bad: data_dri: /a', 'changed data_dir: /a []']);
  });

  it('hands out a changed file once it has settled, and names what waits for a restart', async () => {
    const { clock, heard, write, notice } = world();

    write('data_dir: /b');
    notice();
    notice();
    await clock.advance(100);
    const early = [...heard];
    await clock.advance(200);

    expect(early).toEqual([]);
    expect(heard).toEqual(['changed data_dir: /b [store,data_dir]']);
  });

  it('keeps the old configuration when the new file is bad, and says so once', async () => {
    const { clock, heard, write, notice } = world();

    write('bogus: 1');
    notice();
    await clock.advance(1_000);
    write('bogus: 1');
    notice();
    await clock.advance(60_000);
    write('allow_new_pool: true\ndata_dir: /a');
    notice();
    await clock.advance(1_000);

    expect(heard).toEqual(['refused bad: bogus: 1', 'changed allow_new_pool: true\ndata_dir: /a [allow_new_pool]']);
  });

  it('finds changes by looking where the system does not tell', async () => {
    const { clock, heard, write } = world();

    write('data_dir: /a\nagent_pools: [{name: x}]');
    await clock.advance(15_000);

    expect(heard).toEqual(['changed data_dir: /a\nagent_pools: [{name: x}] []']);
  });

  it('does not read what has not changed', async () => {
    const { clock, disk, heard, notice } = world();

    notice();
    await clock.advance(120_000);

    expect([disk.loads, heard]).toEqual([0, []]);
  });

  it('reads again when poked, even if nothing looks changed, and repeats its refusal', async () => {
    const { clock, disk, heard, watch } = world();
    disk.text = 'bogus: 1';

    watch.poke();
    await clock.settle();
    watch.poke();
    await clock.settle();

    expect(heard).toEqual(['refused bad: bogus: 1', 'refused bad: bogus: 1']);
  });

  it('says nothing of a file that means the same', async () => {
    const { clock, heard, watch } = world();

    watch.poke();
    await clock.settle();

    expect(heard).toEqual([]);
  });

  it('watches the files of the newest configuration', async () => {
    const { clock, disk, watched, write, notice } = world();

    write('data_dir: /c');
    disk.files = ['/m.yaml', '/run/token'];
    notice();
    await clock.advance(1_000);

    expect(watched).toEqual([['/m.yaml'], ['/m.yaml', '/run/token']]);
  });

  it('follows a secret that has moved into a file, though nothing else is new', async () => {
    const { clock, disk, watched, write, notice } = world();

    write('data_dir: /a');
    disk.files = ['/m.yaml', '/run/token'];
    notice();
    await clock.advance(1_000);

    expect(watched.at(-1)).toEqual(['/m.yaml', '/run/token']);
  });

  it('tries a refused file again by itself: what was missing may have come', async () => {
    const { clock, disk, heard, write, notice } = world();
    write('bogus: 1');
    notice();
    await clock.advance(1_000);

    disk.text = 'data_dir: /b';
    await clock.advance(30_000);

    expect(heard).toEqual(['refused bad: bogus: 1', 'changed data_dir: /b [store,data_dir]']);
  });

  it('reads again what was written while it was being read', async () => {
    const { clock, disk, heard, write, notice } = world();
    disk.whileReading = () => {
      disk.whileReading = () => {};
      write('data_dir: /c');
    };

    write('data_dir: /b');
    notice();
    await clock.advance(60_000);

    expect(heard.at(-1)).toBe('changed data_dir: /c [store,data_dir]');
  });

  it('reads what has changed between the first reading and the watching', async () => {
    const { clock, heard } = world('data_dir: /a', 'data_dir: /b');

    await clock.advance(1_000);

    expect(heard).toEqual(['changed data_dir: /b [store,data_dir]']);
  });

  it('goes on naming what waits for a restart, until that is taken back', async () => {
    const { clock, heard, write, notice } = world();

    for (const text of ['data_dir: /b', 'data_dir: /b # still', 'data_dir: /a # again']) {
      write(text);
      notice();
      await clock.advance(1_000);
    }

    expect(heard.map((line) => line.slice(line.indexOf('[')))).toEqual(['[store,data_dir]', '[store,data_dir]', '[]']);
  });

  it('is silent after stop', async () => {
    const { clock, heard, watch, write, notice } = world();

    write('data_dir: /d');
    notice();
    watch.poke();
    watch.stop();
    await clock.advance(60_000);

    expect(heard).toEqual([]);
    expect(clock.nextAlarmMs()).toBeUndefined();
  });
});
