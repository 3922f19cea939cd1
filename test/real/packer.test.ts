// Packer itself as referee of the files that the image builders give it, and of what their scripts do on a machine.

import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Recipe, recipeOf } from '#core/image-builder.ts';
import { going } from '#core/testing/going.ts';
import { runPacker } from '#packer/run.ts';
import { BUILD_FILE, type PackerSource, packerFiles, VARIABLES_FILE } from '#packer/template.ts';
import { AmiConfig } from '../../src/providers/aws/image/config.ts';
import { sourceFor as amazon } from '../../src/providers/aws/image/source.ts';
import { GalleryImageConfig } from '../../src/providers/azure/image/config.ts';
import { sourceFor as azure } from '../../src/providers/azure/image/source.ts';
import { GceImageConfig } from '../../src/providers/gcp/image/config.ts';
import { sourceFor as google } from '../../src/providers/gcp/image/source.ts';
import { openWorld, type World } from '../system/harness/world.ts';
import { type DockerEngine, dockerParts, openDocker } from './parts/docker.ts';
import { type PackerParts, packer, packerParts, programsOf } from './parts/packer.ts';
import { isMissing, needed, type Part } from './parts/part.ts';
import { runWell } from './parts/run.ts';

const NAME = 'muster-image-b1-0000000zz';
const recipe: Recipe = recipeOf({
  name: 'muster-agent',
  version: '1.2.0',
  base: 'any',
  files: [{ path: '/opt/muster/note', mode: 0o640, from: { text: `as it was \${written} {{ here }}\n` } }],
  steps: [
    `mkdir -p '/var/lib/it is'\necho "$(id -u) \${none:-none}" > '/var/lib/it is/made'`,
    'test -s /opt/muster/note',
  ],
  ports: [],
  entry: [],
});

/** The source of each builder, with what it is told beside its template. */
const SOURCES: readonly (readonly [string, PackerSource, Readonly<Record<string, unknown>>])[] = [
  [
    'amazon-ebs',
    amazon(AmiConfig.parse({}), 'us-west-2', undefined, recipe),
    { mark_name: NAME, mark_tags: { 'muster:build': NAME, Name: NAME }, security_group: 'sg-0abc1234' },
  ],
  [
    'azure-arm',
    azure(
      GalleryImageConfig.parse({ resourceGroup: 'velda', gallery: 'velda', location: 'West Europe' }),
      '00000000-0000-0000-0000-000000000001',
      recipe,
    ),
    { mark_name: NAME, mark_tags: { 'muster-build': NAME }, gallery_version: '1.2.0', use_cli: false },
  ],
  [
    'googlecompute',
    google({ ...GceImageConfig.parse({}), project: 'my-project' }, recipe),
    { mark_name: NAME, mark_labels: { 'muster-build': NAME } },
  ],
];

let world: World;
let part: Part<PackerParts>;

beforeAll(async () => {
  world = openWorld();
  part = await packerParts();
});

afterAll(() => world.close());

function written(name: string, source: PackerSource, variables: object, of = recipe): string {
  const folder = world.path(`muster-image-${name}`);
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(packerFiles(of, source))) writeFileSync(join(folder, file), text);
  writeFileSync(join(folder, VARIABLES_FILE), JSON.stringify(variables));
  return folder;
}

describe.each(SOURCES)('the files for %s', (name, source, variables) => {
  test('are valid, and with a word that Packer does not know they are not', async (context) => {
    const parts = needed(context, part);
    const folder = written(name, source, variables);
    const words = ['validate', `-var-file=${VARIABLES_FILE}`, BUILD_FILE];
    const more = Object.fromEntries(
      Object.entries(source.variables).flatMap(([key, { isSecret }]) =>
        isSecret ? [[`PKR_VAR_${key}`, 'a'.repeat(32)]] : [],
      ),
    );

    expect(await packer(parts, words, { folder, more })).toEqual({ code: 0, out: '', err: '' });
    const text = readFileSync(join(folder, BUILD_FILE), 'utf8').replace('ssh_username', 'ssh_usernam');
    writeFileSync(join(folder, BUILD_FILE), text);
    const refused = await packer(parts, words, { folder, more });
    expect(refused.code).toBe(1);
    expect(`${refused.out}${refused.err}`).toContain('ssh_username');
  });
});

/** An image with a shell, and what an image of a cloud has that must not get into another. */
async function importBase(engine: DockerEngine, busybox: string): Promise<void> {
  const root = world.path('packer-base');
  for (const place of ['bin', 'etc/ssh', 'tmp', 'root/.ssh', 'home/me/.ssh', 'var/lib/dbus'])
    mkdirSync(join(root, place), { recursive: true });
  copyFileSync(busybox, join(root, 'bin/busybox'));
  for (const applet of 'sh cat chmod chown cp echo id mkdir rm sha256sum sync tar test gzip'.split(' '))
    symlinkSync('busybox', join(root, 'bin', applet));
  const secret = 'must not be in the image';
  for (const file of [
    'etc/ssh/ssh_host_ed25519_key',
    'etc/ssh/ssh_host_ed25519_key.pub',
    'etc/machine-id',
    'var/lib/dbus/machine-id',
    'root/.ssh/authorized_keys',
    'root/.bash_history',
    'home/me/.ssh/authorized_keys',
    'home/me/.bash_history',
  ])
    writeFileSync(join(root, file), secret);
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\n');
  const archive = world.path('packer-base.tar');
  const env = process.env as Record<string, string>;
  await runWell('tar', ['-C', root, '--owner=0', '--group=0', '-cf', archive, '.'], { env });
  await engine.docker('import', archive, 'muster/packer-base');
}

const LABEL = 'muster.recipe';
const docker = (of: Recipe): PackerSource => ({
  builder: 'docker',
  plugin: { source: 'github.com/hashicorp/docker', version: '>= 1.0.8' },
  variables: {},
  values: {
    image: 'muster/packer-base',
    pull: false,
    commit: true,
    changes: [`LABEL ${LABEL}=${of.hash}`],
    run_command: ['-d', '-i', '-t', '--network=none', '--entrypoint=/bin/sh', '--', { verbatim: '"{{.Image}}"' }],
  },
  sealing: { user: 'me' },
});

describe('a build by the real Packer', () => {
  let engine: DockerEngine | undefined;
  let place: Part<{ readonly busybox: string }> = { missing: 'the engine' };

  beforeAll(async () => {
    const parts = await dockerParts();
    place = parts;
    if (isMissing(parts)) return;
    engine = await openDocker(world, parts);
    await importBase(engine, parts.busybox);
  });
  afterAll(() => engine?.close());

  async function build(context: Parameters<typeof needed>[0], of: Recipe, signal = going()) {
    const parts = needed(context, part);
    needed(context, place);
    const { PATH = '', ...env } = engine?.env ?? {};
    const folder = written(`docker-${of.hash.slice(0, 8)}`, docker(of), {}, of);
    const [steps, lines]: [string[], string[]] = [[], []];
    const run = {
      ...{ id: 'b1', startedAt: 1, folder },
      step: (title: string) => void steps.push(title),
      line: (text: string) => void lines.push(text),
    };
    const programs = programsOf(parts, PATH);
    const own = { programs, pluginFolder: folder, variables: {}, env, secrets: [] };
    const fault = await runPacker(of, run, own, signal).then(
      () => undefined,
      (thrown) => thrown,
    );
    const ids = (await engine?.docker('images', '-q', '--filter', `label=${LABEL}=${of.hash}`)) ?? '';
    return { steps, lines, fault, id: ids.trim() };
  }

  const containers = async (): Promise<string> => (await engine?.docker('ps', '-aq')) ?? '';

  test('has the files and the steps of its recipe in it, and no key, identity or history', async (context) => {
    const begun = Date.now();
    const { steps, lines, fault, id } = await build(context, recipe);
    console.log(`packer build with the docker builder: ${((Date.now() - begun) / 1_000).toFixed(1)} s`);
    const show = (path: string): Promise<string> =>
      engine?.docker('run', '--rm', '--network=none', '--entrypoint=/bin/sh', id, '-c', path) as Promise<string>;

    expect([fault, lines.filter((line) => /muster: /.test(line))]).toEqual([undefined, []]);
    expect(steps).toEqual([
      'making the machine',
      'placing the files',
      "step 1 of 2: mkdir -p '/var/lib/it is'",
      'step 2 of 2: test -s /opt/muster/note',
      'removing keys and identities',
    ]);
    expect(await show('cat /opt/muster/note; cat "/var/lib/it is/made"')).toBe(
      `as it was \${written} {{ here }}\n0 none\n`,
    );
    expect(
      await show(
        'cd /; cat etc/machine-id; for f in etc/ssh/* root/.ssh/* root/.bash_history home/me/.ssh/* home/me/.bash_history var/lib/dbus/machine-id tmp/*; do [ ! -e "$f" ] || echo $f; done',
      ),
    ).toBe('');
    expect(await containers()).toBe('');
  });

  test('that fails in a step says which and with which exit code, and leaves neither container nor image', async (context) => {
    const failing = recipeOf({ ...recipe, steps: ['true', 'echo what is wrong >&2; exit 37', 'true'] });
    const { fault, lines, id } = await build(context, failing);

    expect(fault).toMatchObject({ kind: 'invalid', at: 'steps[1]', message: expect.stringContaining('exit code 37') });
    expect(lines).toContain('what is wrong');
    expect([id, await containers()]).toEqual(['', '']);
  });

  test('that is given up leaves neither container nor image', async (context) => {
    const giveUp = new AbortController();
    const slow = recipeOf({ ...recipe, steps: ['echo now; exec sh -c "while :; do :; done"'] });
    setTimeout(() => giveUp.abort(), 4_000);
    const { fault, id } = await build(context, slow, giveUp.signal);

    expect(fault).toMatchObject({ kind: 'unavailable', message: 'The build was given up.' });
    expect([id, await containers()]).toEqual(['', '']);
  });
});
