// The small shell that stands over each command. It outlives the agent: it writes down who it is before the command
// starts, waits for it, and writes down how it ended. Everything here is POSIX sh with `cat` and `mkfifo`.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SELF_OF_SHELL } from '#host/processes.ts';
import { type Folder, UNWRITTEN } from './folder.ts';

// $1 this script, $2 folder, $3 folder of the pipes, $4 file for our number, $5 mkfifo, $6 cat, $7 set where stdin is open,
// $8 folder of a control group, if there is one; then the command. Our variables bear our name: one that the session's environment holds would reach it with our value.
// Everything ends by the number of our own group: should we not lead one, no other process is hit.
// A polite signal to the group must not end this shell before it has written the exit code; one that comes before the
// command has started keeps it from starting.
const BEGIN = `
muster_folder=$2 muster_pipes=$3 muster_claim=$4 muster_mkfifo=$5 muster_cat=$6 muster_open=$7 muster_cgroup=$8
shift 8
trap : INT HUP QUIT
trap muster_asked=143 TERM
muster_out= muster_err= muster_asked= muster_joining=
end() { kill -s KILL -- -$$; exit 1; }
`;

// Of version 1, the only thread of a process joins at once (`cgroup_procs_write_start` in Linux 5.6 and later). To move a
// whole process, the only way of version 2, waits some ten milliseconds for all processors (`cgroup_threadgroup_rwsem`):
// the rest of this script goes on meanwhile, and only the command waits for it.
const JOIN = `
if [ "$muster_cgroup" ]; then
  if [ -e "$muster_cgroup/tasks" ]; then echo 0 >"$muster_cgroup/tasks"
  else (trap '' TERM INT HUP QUIT; echo $$ >"$muster_cgroup/cgroup.procs") & muster_joining=$!
  fi 2>/dev/null
fi
`;

// A signal ends `wait` early, with a status over 128.
const JOINED = `
if [ "$muster_joining" ]; then until wait "$muster_joining"; [ $? -le 128 ]; do :; done; fi
`;

// The command writes into pipes, never into our files: \`> /dev/stderr\` in a script would empty a file. A command that
// runs as another user may open them anew under that name; their folder is closed to all others.
const CARRY = `
"$muster_mkfifo" -m 622 "$muster_pipes/o" "$muster_pipes/e" || end
(trap '' TERM INT HUP QUIT; exec "$muster_cat" <"$muster_pipes/o" >>"$muster_folder/out") & muster_out=$!
(trap '' TERM INT HUP QUIT; exec "$muster_cat" <"$muster_pipes/e" >>"$muster_folder/err") & muster_err=$!
exec 5>"$muster_pipes/o" 6>"$muster_pipes/e"
`;

// A process must hold the write end, or stdin would end with the agent. It closes it when \`eof\` is opened.
const INPUT = `
if [ "$muster_open" ]; then
  "$muster_mkfifo" -m 644 "$muster_pipes/in" || end
  "$muster_mkfifo" -m 600 "$muster_pipes/eof" || end
  (trap '' TERM INT HUP QUIT; : <"$muster_pipes/eof") 4>"$muster_pipes/in" &
  exec <"$muster_pipes/in"
fi
`;

// With -C the file must be new: a wrapper that finds it taken was given up by a restarted agent and must not run.
const CLAIM = `
${SELF_OF_SHELL}
set -C
echo "$$ $muster_out $muster_err | $muster_self" >"$muster_claim" || end
set +C
`;

// \`exec\` in a subshell takes no built-in of the shell for a command. A signal that comes while the subshell is being made
// may be lost on it; the agent has written \`stop.json\` before it sends one.
const run = (redirections: string): string => `
if [ "$muster_asked" ]; then muster_code=$muster_asked; else
  ([ -e "$muster_folder/stop.json" ] && exit 143; exec "$@") ${redirections}
  muster_code=$?
fi
`;

// What is left of the group goes with us. `cat` exits with 1 where it could not write, mostly since the disk is full. Then
// the file may stay empty, and our own exit code tells the agent.
const END = `
trap '' TERM INT HUP QUIT
echo "$muster_code" >"$muster_folder/exit"
exec 5>&- 6>&-
for muster_carrier in $muster_out $muster_err; do
  wait "$muster_carrier"
  [ $? = 1 ] && echo ${UNWRITTEN} >>"$muster_folder/exit"
done
[ -s "$muster_folder/exit" ] && end
exit "$muster_code"
`;

// The shell's own notices ("Terminated") are no output of the command.
const HUSH = 'exec 3>&2 2>/dev/null\n';

const PLAIN = BEGIN + JOIN + INPUT + CARRY + CLAIM + JOINED + run('>&5 2>&6 5>&- 6>&-') + END;
const TERMINAL = BEGIN + HUSH + JOIN + INPUT + CLAIM + JOINED + run('2>&3 3>&-') + END;

export interface WrapperTools {
  readonly mkfifo: string;
  readonly cat: string;
  /** Where the scripts are kept. */
  readonly path: string;
}

/**
 * The file that holds that script, so that process lists stay readable. A shell reads its script as it goes: the file is
 * named by its content and never changes. A clean-up of temporary folders may have removed it.
 */
function fileOf(script: string, { path }: WrapperTools): string {
  const file = join(path, `session-${createHash('sha256').update(script).digest('hex').slice(0, 12)}.sh`);
  if (!existsSync(file)) {
    writeFileSync(`${file}.${process.pid}`, script, { mode: 0o600 });
    renameSync(`${file}.${process.pid}`, file);
  }
  return file;
}

export interface Command {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly hasInput: boolean;
  readonly hasTerminal: boolean;
  readonly cgroup?: string | undefined;
}

/** Starts the command below a shell of its own session and group; nothing of ours but its files reaches it. */
export function spawnWrapper(
  folder: Folder,
  launch: number,
  { tools, command }: { tools: WrapperTools; command: Command },
): ChildProcess {
  const files = command.hasTerminal ? [folder.outPath, folder.errPath].map((path) => openSync(path, 'a', 0o600)) : [];
  const paths = [folder.path, folder.pipesPath(launch), folder.pidPath(launch)];
  const script = fileOf(command.hasTerminal ? TERMINAL : PLAIN, tools);
  const words = [
    script,
    ...paths,
    tools.mkfifo,
    tools.cat,
    command.hasInput ? 'open' : '',
    command.cgroup ?? '',
    ...command.argv,
  ];
  try {
    return spawn('/bin/sh', ['-c', '. "$1"', 'muster', ...words], {
      cwd: command.cwd,
      env: command.env,
      detached: true,
      stdio: ['ignore', files[0] ?? 'ignore', files[1] ?? 'ignore'],
    });
  } finally {
    for (const file of files) closeSync(file);
  }
}
