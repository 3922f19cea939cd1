import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lastStageOf, makeImages } from './package-images.ts';

const dockerfile = (image: string): string =>
  readFileSync(join(import.meta.dirname, `../deploy/docker/${image}.Dockerfile`), 'utf8');

test.each(['server', 'agent'])(
  'the packed image of the %s has the last stage of its Dockerfile and needs no other',
  (image) => {
    const whole = dockerfile(image);
    const { text: stage } = lastStageOf(whole);

    const lines = stage.split('\n').filter((line) => !line.startsWith('COPY'));
    expect(stage.match(/^FROM .*$/gm)).toEqual(['FROM node:24-bookworm-slim']);
    expect(stage).toContain('\nCOPY tree /opt/muster\n');
    expect(stage).not.toContain('--from');
    expect(whole.endsWith(lines.slice(-2).join('\n'))).toBe(true);
    expect(lines.every((line) => whole.includes(`${line}\n`))).toBe(true);
  },
);

test('the files that the last stage copies from the repository are named, and the tree is not one of them', () => {
  expect(lastStageOf(dockerfile('server')).files).toEqual(['deploy/docker/server.yaml']);
  expect(lastStageOf(dockerfile('agent')).files).toEqual([]);
});

test('a Dockerfile whose last stage takes nothing of its first one is refused', () => {
  expect(() => lastStageOf('FROM a AS build\n\nFROM a\nCOPY out /opt/muster\n')).toThrow('COPY --from=build /out');
});

test('without a Docker engine no image is made, and one line says why', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-images-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const none = await makeImages(folder, folder, { PATH: folder });
  const said = 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock.';
  writeFileSync(join(folder, 'docker'), `#!/bin/sh\necho '${said}' >&2\nexit 1\n`, { mode: 0o755 });
  const silent = await makeImages(folder, folder, { PATH: folder });

  const why = 'The images were not made, because no Docker engine answers:';
  expect(none).toEqual({ files: [], unmade: `${why} There is no command docker.` });
  expect(silent).toEqual({ files: [], unmade: `${why} ${said}` });
});
