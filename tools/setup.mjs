// Makes a checkout ready to run: the locked packages and a Node that is new enough.
// npm calls it before `start` and `test`, after an install, and when npx or `npm install --global .` links the checkout. No dependencies; runs on Node 18 and newer.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST = [24, 15]; // as in "engines" of tools/node/package.json
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const ownNode = join(modules, '.bin/node');
const installing = join(root, '.installing'); // what muster.mjs reads while the packages are not there
const onWindows = process.platform === 'win32';
const {
  npm_node_execpath: systemNode = process.execPath,
  npm_execpath: npm = 'npm',
  npm_lifecycle_event: step,
} = process.env;

const run = (command, args, stdio = 'pipe') => spawnSync(command, args, { cwd: root, shell: onWindows, stdio });

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

function isOutdated() {
  const installed = lockedPackages('node_modules/.package-lock.json');
  if (!installed) return true;
  return Object.entries(lockedPackages('package-lock.json')).some(([path, wanted]) => {
    if (!path.includes('node_modules/') || wanted.link) return false;
    const found = installed[path];
    return found ? found.version !== wanted.version : !wanted.optional && !wanted.devOptional;
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

async function install() {
  const newer = isNewEnough(systemVersion) ? '' : ` and a Node newer than ${systemVersion}`;
  console.error(`Installing the packages${newer}. Only the first start takes this long.`);
  writeFileSync(installing, String(process.pid));
  const [program, ...first] = npm.endsWith('.js') ? [systemNode, npm] : [npm];
  const args = [...first, 'ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const child = spawn(program, args, { cwd: root, shell: onWindows, stdio: 'inherit' });
  const status = await new Promise((resolve) => {
    child.on('error', () => resolve(1));
    child.on('exit', (code) => resolve(code ?? 1));
  });
  if (status === 0) rmSync(installing, { force: true });
  return status;
}

let status = 0;
linkOwnNode();
// Inside `prepare` npm is installing already; calling it again would never end. While the packages are not there, that
// `prepare` is one of npx, and the command itself says what is missing.
if (step === 'prepare' && (existsSync(installing) || isOutdated())) process.exit(0);
// An install that broke off left its mark, and npm may have left out packages whose scripts failed.
if (step !== 'prepare' && (existsSync(installing) || isOutdated() || !isReady())) {
  status = await install();
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
