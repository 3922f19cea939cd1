import { mkdtempSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProgramCall, ProgramEnd } from '#core/programs.ts';
import { going } from '#core/testing/going.ts';
import { runPacker } from './run.ts';
import { aRecipe } from './testing/recipe.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-image-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a Packer that prints these lines and ends so. */
async function ranWith(lines: readonly string[], end: ProgramEnd = { code: 0 }, version = 'Packer v1.6.6') {
  const [calls, steps, said]: [ProgramCall[], string[], string[]] = [[], [], []];
  const programs = {
    find: () => '/usr/bin/packer',
    async run(call: ProgramCall) {
      calls.push(call);
      const isBuild = call.args[0] === 'build';
      for (const line of isBuild ? lines : call.args[0] === 'version' ? [version] : []) call.line?.(line, 'stdout');
      return isBuild ? end : { code: 0 };
    },
  };
  const run = {
    ...{ id: 'b1', startedAt: 1, folder },
    step: (title: string) => void steps.push(title),
    line: (text: string) => void said.push(text),
  };
  const own = {
    programs,
    pluginFolder: '/plugins',
    variables: { mark_name: 'm' },
    env: { TOKEN: 'hush' },
    secrets: ['hush', ''],
  };
  const fault = await runPacker(aRecipe(), run, own, going()).then(
    () => undefined,
    (thrown) => thrown,
  );
  return { calls, steps, said, fault };
}

describe('a run of Packer', () => {
  it('finds its cloud, its own folder and nothing else, and no word of it in its arguments', async () => {
    const { calls, fault } = await ranWith([]);

    expect(fault).toBeUndefined();
    expect(calls.map(({ args }) => args.join(' '))).toEqual([
      'version',
      'build -color=false -var-file=build.pkrvars.json build.pkr.hcl',
    ]);
    expect(calls[1]).toMatchObject({
      folder,
      env: { TOKEN: 'hush', PACKER_CONFIG_DIR: folder, PACKER_PLUGIN_PATH: '/plugins', CHECKPOINT_DISABLE: '1' },
    });
    expect(JSON.parse(readFileSync(join(folder, 'build.pkrvars.json'), 'utf8'))).toEqual({ mark_name: 'm' });
    expect(statSync(join(folder, 'build.pkrvars.json')).mode & 0o777).toBe(0o600);
    expect(readlinkSync(join(folder, 'file-1'))).toBe('/pack/agent.tar.gz');
  });

  it('fetches the plug-in first where this version takes its builders from plug-ins', async () => {
    const { calls } = await ranWith([], { code: 0 }, 'Packer v1.14.2');

    expect(calls.map(({ args }) => args.join(' '))).toEqual([
      'version',
      'init plugins.pkr.hcl',
      'build -color=false -var-file=build.pkrvars.json .',
    ]);
  });

  it('tells its parts apart from its output, and hides what is secret in that', async () => {
    const { steps, said } = await ranWith([
      '==> amazon-ebs.image: Creating temporary keypair: muster-image-b1-000000001',
      '    amazon-ebs.image: muster: files',
      '    amazon-ebs.image: muster: files ended with exit code 0',
      '    amazon-ebs.image: muster: step 2 of 2',
      '==> amazon-ebs.image: a warning with hush in it',
      '    amazon-ebs.image: muster: step 2 of 2 ended with exit code 0',
      '    amazon-ebs.image: muster: seal',
    ]);

    expect(steps).toEqual([
      'making the machine',
      'placing the files',
      'step 2 of 2: apt-get update',
      'removing keys and identities',
    ]);
    expect(said).toEqual(['Creating temporary keypair: muster-image-b1-000000001', 'a warning with [hidden] in it']);
  });

  it.each([
    [
      'a step that fails',
      ['    x.image: muster: step 2 of 2', '    x.image: muster: step 2 of 2 ended with exit code 100'],
      { kind: 'invalid', at: 'steps[1]', message: expect.stringContaining('exit code 100') },
    ],
    [
      'a machine that is gone in a step',
      ['    x.image: muster: step 1 of 2', "Build 'x.image' errored: timeout"],
      { kind: 'invalid', at: 'steps[0]', message: expect.stringContaining('did not end by itself') },
    ],
    [
      'a file that is damaged on its way',
      ['    x.image: muster: files', '    x.image: muster: files ended with exit code 1'],
      { kind: 'unavailable', message: 'placing the files on the machine ended with exit code 1.' },
    ],
    [
      'a right that is missing',
      ["Build 'x.image' errored: UnauthorizedOperation: You are not authorized to perform this operation."],
      { kind: 'denied', message: expect.stringContaining('You are not authorized') },
    ],
    [
      'a type that cannot be had',
      ["==> Build 'x.image' errored after 3 seconds 2 milliseconds: InsufficientInstanceCapacity: none left"],
      { kind: 'exhausted', message: expect.stringContaining('none left') },
    ],
    [
      'a failure without a word',
      [],
      { kind: 'unavailable', message: 'Packer made no image: Packer ended with exit code 1.' },
    ],
  ])('names %s', async (_what, lines, fault) => {
    expect((await ranWith(lines, { code: 1 })).fault).toMatchObject(fault);
  });

  it('says by which signal it was ended', async () => {
    const { fault } = await ranWith([], { code: undefined, signal: 'SIGKILL' });

    expect(fault).toMatchObject({ kind: 'unavailable', message: 'Packer made no image: Packer was ended by SIGKILL.' });
  });
});
