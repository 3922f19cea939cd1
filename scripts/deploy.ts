// `npm run build_docker | helm_upgrade | helm_uninstall`: the image of this checkout, and the chart with GPU nodes sized.
import { execFile, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

export type Variables = Readonly<Record<string, string | undefined>>;
export type Command = readonly [program: string, ...words: readonly string[]];

/** The commit that an image is built from. */
export interface Commit {
  readonly branch: string;
  readonly sha: string;
}

const CHART = 'deploy/helm/muster';
const LONGEST_TAG = 128;

/** `{branch}-{sha}-{time}`: what a tag may not hold becomes `-`, and a long branch is cut. */
export function imageTag({ branch, sha }: Commit, nowMs: number): string {
  const time = new Date(nowMs).toISOString().replace(/\D/g, '').slice(0, 14);
  const name = branch.replace(/[^\w.-]+/g, '-').replace(/^[.-]+/, '') || 'detached';
  const rest = `-${sha}-${time}`;
  return `${name.slice(0, LONGEST_TAG - rest.length)}${rest}`;
}

const repositoryOf = ({ IMAGE_REPOSITORY }: Variables): string => IMAGE_REPOSITORY || 'muster/server';

export function buildCommands(variables: Variables, tag: string, more: readonly string[]): readonly Command[] {
  const image = `${repositoryOf(variables)}:${tag}`;
  return [['docker', 'build', '-f', 'deploy/docker/server.Dockerfile', '-t', image, ...more, '.']];
}

const placeOf = ({ HELM_NAMESPACE, HELM_RELEASE }: Variables) => ({
  namespace: HELM_NAMESPACE || 'velda',
  release: HELM_RELEASE || 'muster',
});

/** Definitions first: Helm installs those of `crds` once and never changes them. */
export function upgradeCommands(variables: Variables, more: readonly string[]): readonly Command[] {
  const { IMAGE_TAG, IMAGE_REPOSITORY, HELM_KUBECONTEXT } = variables;
  if (!IMAGE_TAG) throw new Error('IMAGE_TAG is not set. Run: IMAGE_TAG=TAG npm run helm_upgrade');
  const { namespace, release } = placeOf(variables);
  const context = HELM_KUBECONTEXT ? ['--context', HELM_KUBECONTEXT] : [];
  const repository = IMAGE_REPOSITORY ? ['--set-string', `image.repository=${IMAGE_REPOSITORY}`] : [];
  return [
    // By the server: Helm has made them without the annotation that a client-side apply compares with.
    ['kubectl', ...context, 'apply', '--server-side', '--force-conflicts', '-f', `${CHART}/crds`],
    [
      ...(['helm', 'upgrade', release, CHART, '--install', '--namespace', namespace, '--create-namespace'] as const),
      ...['--reset-then-reuse-values', '--set', 'nodes.enabled=true', '--set-string', `image.tag=${IMAGE_TAG}`],
      ...repository,
      ...more,
    ],
  ];
}

export function uninstallCommands(variables: Variables, more: readonly string[]): readonly Command[] {
  const { namespace, release } = placeOf(variables);
  return [['helm', 'uninstall', release, '--namespace', namespace, ...more]];
}

const ROOT = dirname(import.meta.dirname);

async function git(...words: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', words, { cwd: ROOT });
  return stdout.trim();
}

async function commitNow(): Promise<Commit> {
  const [branch, sha] = await Promise.all([git('branch', '--show-current'), git('rev-parse', '--short', 'HEAD')]);
  return { branch, sha };
}

/** Resolves with its exit code; one that is not installed throws. */
function run([program, ...words]: Command): Promise<number> {
  console.error(`$ ${[program, ...words].join(' ')}`);
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { cwd: ROOT, stdio: 'inherit' });
    child.once('error', () => reject(new Error(`${program} is not installed, or not in PATH.`)));
    child.once('close', (code) => resolve(code ?? 1));
  });
}

async function commandsOf(verb: string | undefined, more: readonly string[]): Promise<readonly Command[]> {
  if (verb === 'build_docker') return buildCommands(process.env, imageTag(await commitNow(), Date.now()), more);
  return verb === 'helm_upgrade' ? upgradeCommands(process.env, more) : uninstallCommands(process.env, more);
}

async function main(verb: string | undefined, more: readonly string[]): Promise<number> {
  const commands = await commandsOf(verb, more);
  for (const command of commands) {
    const code = await run(command);
    if (code !== 0) return code;
  }
  if (verb === 'build_docker') {
    const image = commands[0]?.[commands[0].indexOf('-t') + 1] ?? '';
    console.log(image);
    console.error(`Next: docker push ${image} && IMAGE_TAG=${image.split(':').at(-1)} npm run helm_upgrade`);
  }
  return 0;
}

if (import.meta.main) {
  const [verb, ...more] = process.argv.slice(2);
  process.exitCode = await main(verb, more).catch((thrown: Error) => {
    console.error(thrown.message);
    return 1;
  });
}
