// Makes a checkout ready to run: the locked packages, and a Node that is new enough.
// npm calls it before `start` and `test`, and after an install. No dependencies; runs on Node 18 and newer.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST = [24, 15]; // as in "engines" of tools/node/package.json
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const ownNode = join(modules, '.bin', 'node');
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

function install() {
  const newer = isNewEnough(systemVersion) ? '' : ` and a Node newer than ${systemVersion}`;
  console.error(`Installing the packages${newer}. Only the first start takes this long.`);
  const [command, ...first] = npm.endsWith('.js') ? [systemNode, npm] : [npm];
  return run(command, [...first, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], 'inherit').status ?? 1;
}

let status = 0;
linkOwnNode();
// Inside `prepare` npm is installing already; calling it again would never end.
if (step !== 'prepare' && (isOutdated() || !isReady())) {
  status = install();
  linkOwnNode();
}
if (!isReady()) {
  rmSync(ownNode, { force: true });
  console.error(
    `Muster needs Node ${OLDEST.join('.')} or newer. This is ${systemVersion}, and no newer one could be fetched for ${process.platform} ${process.arch}: install one by hand.`,
  );
  status ||= 1;
}
process.exit(status);
