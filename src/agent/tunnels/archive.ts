// Files of a session as a tar archive. The system's `tar` reads and writes them under the account of the session, so a copy
// can do what a command of the session could do, and no more.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { Fault } from '#core/fault.ts';
import { accountVariables, commandAs } from '#host/account.ts';
import { DEFAULT_PATH, type FindProgram } from '#host/programs.ts';
import type { FarEnd } from './far-end.ts';
import type { SessionPlace } from './session-place.ts';

type Child = ChildProcessByStdio<Writable | null, Readable, Readable>;

const MISSING = 44;

// $1 the path, $2 tar, $3 the directory of the session. The account of the session enters it: the agent may enter more.
const ENTER = `
cd -P -- "$3" 2>/dev/null || { echo "the directory $3 of the session cannot be entered" >&2; exit ${MISSING}; }
`;

// Both then print one line: what is at the path, the boot id of the machine, and what stat(1) calls the device and inode of
// the folders named. By it the other side notices that it would copy something into itself. `tar` follows.
const SAY = `
say() {
  kind=$1; boot=; shift
  { read -r boot </proc/sys/kernel/random/boot_id; } 2>/dev/null
  echo "$kind" $boot $(stat -L -c %d:%i -- "$@" 2>/dev/null)
}
`;

// A link that was named is followed, as `cp` does it; links inside a folder are copied as links.
// The dot keeps line breaks at the end of a name, which the shell would drop.
// GNU tar takes a backslash in an argument for an escape; others do not know the option.
const READ = `${ENTER}${SAY}
[ -e "$1" ] || { echo "$1: no such file or folder" >&2; exit ${MISSING}; }
if [ -d "$1" ]; then cd -P -- "$1" && say folder . && exec "$2" -cf - .; exit; fi
file=$(readlink -f -- "$1" && echo .) && file=\${file%??} && cd -P -- "\${file%/*}/" || exit
name=./\${file##*/}
case $name in *\\\\*) plain=--no-unquote;; *) plain=;; esac
say file "$name" && exec "$2" -cf - $plain -- "$name"
`;

// The sender names the first entry by that word: its own name inside a folder, the last name of the path otherwise.
// The folders are that one and all above it. `-o` gives files to the account that unpacks, `-p` keeps modes.
const WRITE = `${ENTER}${SAY}
case $1 in */) [ -d "$1" ] || { echo "$1: no such folder" >&2; exit ${MISSING}; };; esac
if [ -d "$1" ]; then cd -P -- "$1" && kind=folder
else
  [ -d "\${1%/*}/" ] || { echo "\${1%/*}: no such folder" >&2; exit ${MISSING}; }
  cd -P -- "\${1%/*}/" && kind=file
fi || exit
tar=$2 up=$PWD
set -- .
while [ -n "$up" ]; do up=\${up%/*}; set -- "$@" "$up/"; done
say "$kind" "$@" && exec "$tar" -xopf -
`;
const LONGEST_COMPLAINT = 2_000;

function toolOf(find: FindProgram): string {
  const tar = find('tar', DEFAULT_PATH);
  if (tar) return tar;
  throw new Fault('unsupported', 'The program tar is not installed on the worker.', {
    remedy: 'Install it there; `muster cp` needs it.',
  });
}

// GNU tar exits with 1 where a file was written to meanwhile, such as the log of a running program; its copy is of use all the same.
const CHANGED = /: file changed as we read it$/;

interface Complaint {
  readonly lines: readonly string[];
  readonly isWhole: boolean;
}

function faultOf(code: number | null, signal: string | null, { lines }: Complaint): Fault {
  const said = lines.slice(-3).join('; ').replace(/\.$/, '');
  const why = said || (signal ? `tar was ended by ${signal}` : `tar exited with ${code}`);
  const isMissing = code === MISSING;
  return new Fault(isMissing ? 'missing' : 'invalid', `The worker could not copy: ${why}.`, {
    remedy: isMissing ? 'Check the path; a relative one is below the directory of the session.' : undefined,
  });
}

function ended(child: Child, complaint: () => Complaint): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) =>
      reject(new Fault('unavailable', `The worker cannot start a shell: ${error.message}.`)),
    );
    child.once('close', (code, signal) => {
      const said = complaint();
      const isOnlyChanged = code === 1 && said.isWhole && said.lines.every((line) => CHANGED.test(line));
      if (code === 0 || (isOnlyChanged && said.lines.length > 0)) resolve();
      else reject(faultOf(code, signal, said));
    });
  });
}

/** Starts a program that reads or unpacks an archive at that path, relative to where the session starts. */
export function openArchive(
  direction: 'read' | 'write',
  path: string,
  { place, find }: { readonly place: SessionPlace; readonly find: FindProgram },
): FarEnd {
  if (path.includes('\0')) throw new Fault('invalid', 'The path contains a zero byte.');
  const { account, cwd } = place;
  // A name that begins with `-` must not count as an option of `test` or `readlink`.
  const named = path.startsWith('/') ? path : `./${path}`;
  const command = ['/bin/sh', '-c', direction === 'read' ? READ : WRITE, 'muster-copy', named, toolOf(find), cwd];
  const [program = '', ...args] = account ? commandAs(account, command, find) : command;
  const env = { PATH: DEFAULT_PATH, LANG: 'C.UTF-8', ...(account && accountVariables(account)) };
  const input = direction === 'read' ? 'ignore' : 'pipe';
  const child = spawn(program, args, { cwd: '/', env, stdio: [input, 'pipe', 'pipe'] }) as Child;
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (complaint.length < LONGEST_COMPLAINT) complaint += text;
  });
  // `tar` may end before it has read all that is sent; its exit code tells.
  child.stdin?.on('error', () => {});
  const end = ended(child, () => ({
    lines: complaint.split('\n').filter((line) => line.trim() !== ''),
    isWhole: complaint.length < LONGEST_COMPLAINT,
  }));
  end.catch(() => {});
  return {
    readable: child.stdout,
    writable: child.stdin ?? undefined,
    finished: () => end,
    destroy: () => void child.kill('SIGKILL'),
  };
}
