// Makes a checkout ready to run: the locked packages, a Node that is new enough, and the command for npx.
// npm calls it before `start` and `test`, and after an install. No dependencies; runs on Node 18 and newer.
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST = [24, 15]; // as in "engines" of tools/node/package.json
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const bin = join(modules, '.bin');
const ownNode = join(bin, 'node');
const command = join(bin, 'muster');
const COMMAND_TARGET = '../../tools/muster.mjs';
const EX_TEMPFAIL = 75;
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

// npx takes `node_modules/.bin/muster` at once. A `bin` called muster in package.json would send it through its cache
// instead: slower by a second, and broken for good if it is first used while the packages are being installed.
function linkCommand() {
  if (onWindows || !existsSync(bin)) return;
  try {
    if (readlinkSync(command) === COMMAND_TARGET) return;
  } catch {}
  rmSync(command, { force: true });
  symlinkSync(COMMAND_TARGET, command);
}

/** What the command answers until the packages are there. Outlives this process if the installation is interrupted. */
const standIn = `#!/bin/sh
if kill -0 ${process.pid} 2>/dev/null; then
  echo 'muster: npm is still installing the packages. Try again in a minute.' >&2
  exit ${EX_TEMPFAIL}
fi
echo 'muster: the packages are not installed: the last attempt did not finish. Run "npm start" in this folder:' >&2
echo '${root.replaceAll("'", "'\\''")}' >&2
exit 1
`;

/** Keeps the stand-in there while `npm ci` empties node_modules; the returned function ends that. */
function keepStandIn() {
  if (onWindows) return () => {};
  let ours;
  const place = () => {
    const found = statSync(bin, { throwIfNoEntry: false })?.ino;
    // A folder that lost the file is being removed: anything new in it would make `npm ci` fail.
    if (found !== undefined && (found === ours || existsSync(command))) return;
    mkdirSync(bin, { recursive: true });
    writeFileSync(command, standIn, { mode: 0o755 });
    ours = statSync(bin).ino;
  };
  rmSync(command, { force: true });
  place();
  const timer = setInterval(() => {
    try {
      place();
    } catch {} // npm removed the folder just now; the next turn finds it gone.
  }, 50);
  return () => clearInterval(timer);
}

async function install() {
  const newer = isNewEnough(systemVersion) ? '' : ` and a Node newer than ${systemVersion}`;
  console.error(`Installing the packages${newer}. Only the first start takes this long.`);
  const stop = keepStandIn();
  const [program, ...first] = npm.endsWith('.js') ? [systemNode, npm] : [npm];
  const args = [...first, 'ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const child = spawn(program, args, { cwd: root, shell: onWindows, stdio: 'inherit' });
  const status = await new Promise((resolve) => {
    child.on('error', () => resolve(1));
    child.on('exit', (code) => resolve(code ?? 1));
  });
  stop();
  return status;
}

let status = 0;
linkOwnNode();
// Inside `prepare` npm is installing already; calling it again would never end.
if (step !== 'prepare' && (isOutdated() || !isReady())) {
  status = await install();
  linkOwnNode();
}
if (status === 0) linkCommand();
if (!isReady()) {
  rmSync(ownNode, { force: true });
  console.error(
    `Muster needs Node ${OLDEST.join('.')} or newer. This is ${systemVersion}, and no newer one could be fetched for ${process.platform} ${process.arch}: install one by hand.`,
  );
  status ||= 1;
}
process.exit(status);
