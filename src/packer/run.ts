// One run of Packer in the folder of a build: its arguments, its output, and how it ended.
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MINUTE_MS } from '#core/clock.ts';
import { Fault, type FaultKind } from '#core/fault.ts';
import { type BuildRun, type Recipe, stepFailed } from '#core/image-builder.ts';
import type { ProgramCall, Programs } from '#core/programs.ts';
import { PACKER } from './needs.ts';
import { fileName } from './scripts.ts';
import { BUILD_FILE, PLUGINS_FILE, VARIABLES_FILE } from './template.ts';

// Packer deletes its machine when it is interrupted, and clouds take minutes for that.
const GRACE_MS = 10 * MINUTE_MS;
// From this version on it takes its builders from plug-ins.
const [MAJOR, MINOR] = [1, 7];

export interface PackerCall {
  readonly programs: Programs;
  /** Where newer versions of Packer keep their plug-ins. */
  readonly pluginFolder: string;
  /** Of `build.pkrvars.json`: nothing in it is secret. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The variables of its cloud. */
  readonly env: Readonly<Record<string, string>>;
  /** What no line of its output may show. */
  readonly secrets: readonly string[];
}

const HEAD = /^(?:==>|\s*)\s*[\w-]+\.image: ?/;
const PART = /^muster: (files|seal|step (\d+) of \d+)$/;
const ENDED = /^muster: (files|seal|step (\d+) of \d+) ended with exit code (\d+)$/;
// `Build 'amazon-ebs.image' errored: …`; newer versions say after how long.
const ERRORED = /^(?:==> )?Build '[^']+' errored(?: after [^:]+)?: (.*)$/;
const TEMPLATE_ERROR = /^Error: (.*)$/;

// What the clouds call their refusals, as Packer passes them on.
const KINDS: readonly (readonly [RegExp, FaultKind])[] = [
  [/UnauthorizedOperation|AuthorizationFailed|AccessDenied|Required '[^']+' permission|forbidden/i, 'denied'],
  [
    /AuthFailure|NoCredentialProviders|InvalidClientTokenId|could not find default credentials|AADSTS/i,
    'unauthenticated',
  ],
  [/Insufficient\w*Capacity|SkuNotAvailable|AllocationFailed|RESOURCE_POOL_EXHAUSTED/i, 'exhausted'],
  [/LimitExceeded|QuotaExceeded|quotaExceeded|exceeding approved/, 'quota'],
  [/RequestLimitExceeded|TooManyRequests|rateLimitExceeded/, 'throttled'],
];

interface Heard {
  /** What it was doing last, and how that ended. */
  part?: { readonly name: string; readonly step: number | undefined };
  code?: number;
  error?: string | undefined;
}

function titleOf(part: string, step: string | undefined, { steps }: Recipe): string {
  if (part === 'files') return 'placing the files';
  if (part === 'seal') return 'removing keys and identities';
  const [line = ''] = (steps[Number(step) - 1] ?? '').split('\n');
  return `${part}: ${line}`;
}

/** Passes its output on, and keeps what tells how the build ended. */
function listener(recipe: Recipe, run: BuildRun, secrets: readonly string[]) {
  const heard: Heard = {};
  function line(written: string): void {
    const text = secrets.reduce((all, secret) => (secret === '' ? all : all.replaceAll(secret, '[hidden]')), written);
    const said = text.replace(HEAD, '');
    const [, begun, step] = PART.exec(said) ?? [];
    const [, ended, , code] = ENDED.exec(said) ?? [];
    if (begun !== undefined) {
      heard.part = { name: begun, step: step === undefined ? undefined : Number(step) };
      delete heard.code;
      return run.step(titleOf(begun, step, recipe));
    }
    if (ended !== undefined) heard.code = Number(code);
    heard.error = ERRORED.exec(text)?.[1] ?? TEMPLATE_ERROR.exec(text)?.[1] ?? heard.error;
    if (ended === undefined && said.trim() !== '') run.line(said);
  }
  return { heard, line };
}

function faultOf({ part, code, error }: Heard, recipe: Recipe, ended: string): Fault {
  if (part && code !== 0 && part.step !== undefined) return stepFailed(recipe, part.step, code);
  if (part && code !== undefined && code !== 0)
    return new Fault(
      'unavailable',
      `${titleOf(part.name, undefined, recipe)} on the machine ended with exit code ${code}.`,
    );
  const why = error ?? ended;
  const kind = KINDS.find(([words]) => words.test(why))?.[1] ?? 'unavailable';
  return new Fault(kind, `Packer made no image: ${why}`, { remedy: 'Its output says what it was doing.' });
}

async function isWithPlugins(
  call: Omit<ProgramCall, 'args'>,
  programs: Programs,
  signal: AbortSignal,
): Promise<boolean> {
  let version = '';
  const line = (text: string): void => {
    version ||= /^Packer v(\d+\.\d+)/.exec(text)?.[1] ?? '';
  };
  await programs.run({ ...call, args: ['version'], line }, signal);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > MAJOR || (major === MAJOR && minor >= MINOR);
}

/** Runs the build whose files are in the folder of the run. Throws unless Packer says that the image is made. */
export async function runPacker(recipe: Recipe, run: BuildRun, own: PackerCall, signal: AbortSignal): Promise<void> {
  const { programs, pluginFolder, variables, env, secrets } = own;
  const { folder } = run;
  const { heard, line } = listener(recipe, run, secrets);
  const settings = { PACKER_CONFIG_DIR: folder, PACKER_PLUGIN_PATH: pluginFolder, CHECKPOINT_DISABLE: '1' };
  const call = { program: PACKER, folder, env: { ...env, ...settings }, graceMs: GRACE_MS };
  writeFileSync(join(folder, VARIABLES_FILE), `${JSON.stringify(variables, undefined, 2)}\n`, { mode: 0o600 });
  for (const [at, { from }] of recipe.files.entries())
    if (!('text' in from)) symlinkSync('archive' in from ? from.archive : from.file, join(folder, fileName(at)));
  const hasPlugins = await isWithPlugins(call, programs, signal);
  if (hasPlugins) {
    run.step('fetching the plug-in of Packer');
    const { code } = await programs.run({ ...call, args: ['init', PLUGINS_FILE], line }, signal);
    if (code !== 0) throw faultOf(heard, recipe, `\`packer init\` ended with exit code ${code}.`);
  }
  run.step('making the machine');
  const words = ['build', '-color=false', `-var-file=${VARIABLES_FILE}`, hasPlugins ? '.' : BUILD_FILE];
  const { code, signal: killedBy } = await programs.run({ ...call, args: words, line }, signal);
  if (signal.aborted) throw new Fault('unavailable', 'The build was given up.');
  if (code !== 0)
    throw faultOf(
      heard,
      recipe,
      killedBy ? `Packer was ended by ${killedBy}.` : `Packer ended with exit code ${code}.`,
    );
}
