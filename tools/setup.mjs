// Makes a checkout ready to run: the locked packages and a Node that is new enough. With `--omit=dev`: only what running needs.
// npm calls it before its scripts, after an install, and when npx or `npm install --global .` links the checkout. No dependencies; runs on Node 18 and newer.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST = [24, 15]; // as in "engines" of tools/node/package.json
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const ownNode = join(modules, '.bin/node');
const installing = join(root, '.installing'); // what muster.mjs reads while packages that it needs are not there
const adding = join(root, '.adding'); // the folders that an install adds to what a running server may use
const onWindows = process.platform === 'win32';
const { npm_execpath: npm = 'npm', npm_lifecycle_event: step } = process.env;
const isForRunning = process.argv.includes('--omit=dev') || step === 'prepare';

const run = (command, args, stdio = 'pipe') => spawnSync(command, args, { cwd: root, shell: onWindows, stdio });

const isOurs = (node) =>
  existsSync(node) && existsSync(modules) && realpathSync(node).startsWith(realpathSync(modules) + sep);

/**
 * The Node that runs npm. Where node_modules/.bin comes first in PATH that is our own, and npm would remove it: it takes
 * packages by the version of the Node that it runs on.
 */
function findSystemNode() {
  const node = process.env.npm_node_execpath ?? process.execPath;
  if (!isOurs(node)) return node;
  const inPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  return inPath.find((path) => existsSync(path) && !isOurs(path)) ?? node;
}

const systemNode = findSystemNode();

function versionOf(node) {
  return node === process.execPath ? process.version : String(run(node, ['--version']).stdout ?? '').trim();
}

/** Where the Node that npm fetched does not start here: why, and what to do. */
function whyOwnNodeFails() {
  const { stderr, error } = run(ownNode, ['--version']);
  const said = String(stderr ?? '').trim() || (error?.message ?? 'it says nothing');
  const library = /loading shared libraries: (\S+):/.exec(said)?.[1];
  // Debian's names: libatomic.so.1 is in libatomic1, libgcc_s.so.1 in libgcc-s1.
  const debian = library?.replace('_', '-').replace('.so.', '');
  const remedy = library
    ? `Install the library ${library} (Debian and Ubuntu: apt-get install ${debian}), or install`
    : 'Install';
  return `The Node that was fetched does not start on this machine: ${said}\n${remedy} Node ${OLDEST.join('.')} or newer, then run the same command again.`;
}

function isNewEnough(version) {
  const [major = 0, minor = 0] = version.slice(1).split('.').map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

const systemVersion = versionOf(systemNode);
const isReady = () => isNewEnough(systemVersion) || (existsSync(ownNode) && isNewEnough(versionOf(ownNode)));

const lockedPackages = (file) =>
  existsSync(join(root, file)) ? JSON.parse(readFileSync(join(root, file), 'utf8')).packages : undefined;

/** What npm has installed here, as it wrote it down at the end; none where it has not come that far. */
const readInstalled = () => lockedPackages('node_modules/.package-lock.json');

/** The folders of packages that are not here, or not in the locked version. */
function missingPackages(installed) {
  return Object.entries(lockedPackages('package-lock.json')).flatMap(([path, wanted]) => {
    if (!path.includes('node_modules/') || wanted.link) return [];
    const found = installed[path];
    if (found?.version === wanted.version) return [];
    return { path, isNeeded: Boolean(found) || !(wanted.optional || wanted.devOptional), isDev: wanted.dev === true };
  });
}

/** npm 10 and older fetch our Node, and then lose the link to it. */
function linkOwnNode() {
  if (onWindows || isNewEnough(systemVersion) || existsSync(ownNode) || !existsSync(dirname(ownNode))) return;
  const fetched = readdirSync(modules).find(
    (name) => name.startsWith('node-') && existsSync(join(modules, name, 'bin/node')),
  );
  if (!fetched) return;
  rmSync(ownNode, { force: true });
  symlinkSync(join('..', fetched, 'bin/node'), ownNode);
}

async function runNpm(words) {
  const [program, ...first] = npm.endsWith('.js') ? [systemNode, npm] : [npm];
  const args = [...first, ...words, '--no-audit', '--no-fund', '--loglevel=error'];
  const child = spawn(program, args, { cwd: root, shell: onWindows, stdio: 'inherit' });
  return new Promise((resolve) => {
    child.on('error', () => resolve(1));
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

/** Empties node_modules and installs: for a checkout whose packages are not there, or not to be trusted. */
async function installAnew(omitted) {
  const newer = isNewEnough(systemVersion) ? '' : ` and a Node newer than ${systemVersion}`;
  console.error(`Installing the packages${newer}. Only the first start takes this long.`);
  writeFileSync(installing, String(process.pid));
  const status = await runNpm(['ci', ...omitted]);
  if (status !== 0) return status;
  rmSync(installing, { force: true });
  rmSync(adding, { force: true });
  return status;
}

/** What an install that broke off has left half-written. */
const readAdding = () => (existsSync(adding) ? readFileSync(adding, 'utf8').split('\n').filter(Boolean) : []);

/** Adds and replaces packages, and leaves all others as they are: a server may run by them. */
async function complete(missing, omitted) {
  console.error(`Installing more packages${isForRunning ? '' : ', for development'}.`);
  if (missing.some(({ isNeeded, isDev }) => isNeeded && !isDev)) writeFileSync(installing, String(process.pid));
  const paths = [...new Set([...readAdding(), ...missing.filter(({ isDev }) => isDev).map(({ path }) => path)])];
  writeFileSync(adding, paths.join('\n'));
  // npm takes a package for installed as soon as its package.json is there.
  for (const path of paths) rmSync(join(root, path), { recursive: true, force: true });
  const status = await runNpm(['install', '--no-save', ...omitted]);
  if (status !== 0) return status;
  rmSync(adding, { force: true });
  rmSync(installing, { force: true });
  return status;
}

async function installWhatIsMissing() {
  const installed = readInstalled();
  // Once they are there, packages for development stay.
  const isWithoutDev = isForRunning && !Object.values(installed ?? {}).some(({ dev }) => dev);
  const omitted = isWithoutDev ? ['--omit=dev'] : [];
  // An install that broke off left its mark, and npm may have left out packages whose scripts failed.
  if (!installed || existsSync(installing)) return installAnew(omitted);
  const missing = missingPackages(installed);
  const isCutOff = !isForRunning && existsSync(adding);
  if (isCutOff || missing.some(({ isNeeded, isDev }) => isNeeded && !(isDev && isForRunning)))
    return complete(missing, omitted);
  return isReady() ? 0 : installAnew(omitted);
}

/** Inside `prepare` npm is installing already; calling it again would never end. */
function isWithoutPackages() {
  const installed = readInstalled();
  if (!installed || existsSync(installing)) return true;
  return missingPackages(installed).some(({ isNeeded, isDev }) => isNeeded && !isDev);
}

let status = 0;
linkOwnNode();
if (step === 'prepare') {
  // While the packages are not there, that `prepare` is one of npx, and the command itself says what is missing.
  if (isWithoutPackages()) process.exit(0);
} else {
  status = await installWhatIsMissing();
  linkOwnNode();
}
if (!isReady()) {
  const needs = `Muster needs Node ${OLDEST.join('.')} or newer. This is ${systemVersion}.`;
  const noneFetched = `No newer one could be fetched for ${process.platform} ${process.arch}: install one by hand.`;
  console.error(`${needs} ${existsSync(ownNode) ? whyOwnNodeFails() : noneFetched}`);
  rmSync(ownNode, { force: true }); // npm would run this very file with it the next time.
  status ||= 1;
}
process.exit(status);
