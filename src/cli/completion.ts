import { Command, Option } from 'commander';
import { Fault } from '#core/fault.ts';
import { type Cli, type CliCommand, clientOf } from './command.ts';
import { NAME_KINDS, type NameKind, namesOfKind } from './names.ts';
import { print } from './terminal.ts';

/** What may follow a command. */
interface Words {
  /** As in `muster pool ls`; every alias has an entry of its own. */
  readonly path: string;
  readonly words: readonly string[];
}

const namesOf = (command: Command): readonly string[] => [command.name(), ...command.aliases()];

/** Every path of commands with the words that may follow it. */
export function wordsOf(command: Command, path = command.name()): Words[] {
  const names = command.commands.map((child) => child.name());
  const options = command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? []);
  const below = command.commands.flatMap((child) =>
    namesOf(child).flatMap((name) => wordsOf(child, `${path} ${name}`)),
  );
  return [{ path, words: [...names, ...options, '--help'] }, ...below];
}

/** Options that take one of a few words. */
function choicesOf(command: Command): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const { long, argChoices } of command.options) if (long && argChoices) found.set(long, argChoices);
  for (const child of command.commands) for (const [long, words] of choicesOf(child)) found.set(long, words);
  return found;
}

/** Whose names the first argument of a command is one of. */
function kindOf(noun: string, command: Command): NameKind | undefined {
  const [first] = command.registeredArguments;
  if (first?.name() !== 'name' && first?.name() !== 'id') return undefined;
  return noun === 'logs' ? 'session' : NAME_KINDS.find((kind) => kind === noun);
}

/** Every path of commands that takes a name, with the kind of the name. A name that is only being given is none. */
function namesAt(program: Command): readonly (readonly [path: string, kind: NameKind])[] {
  return program.commands.flatMap((noun) =>
    [noun, ...noun.commands].flatMap((command) => {
      const kind = ['add', 'create'].includes(command.name()) ? undefined : kindOf(noun.name(), command);
      if (kind === undefined) return [];
      const above = command === noun ? [''] : namesOf(noun).map((name) => ` ${name}`);
      return above.flatMap((before) => namesOf(command).map((name) => [`muster${before} ${name}`, kind] as const));
    }),
  );
}

/** The paths of each kind, as patterns of `case`. */
function nameCases(program: Command): readonly (readonly [pattern: readonly string[], kind: NameKind])[] {
  const all = namesAt(program);
  return NAME_KINDS.map(
    (kind) => [all.filter(([, each]) => each === kind).map(([path]) => `'${path}'`), kind] as const,
  );
}

const POOL_OPTIONS = ['-p', '--pool'];

/** `-o` is the only short name that people give such an option by. */
const writtenAs = (long: string): readonly string[] => (long === '--output' ? ['-o', long] : [long]);

/**
 * Finds the longest path of commands before the cursor, then what may follow it; bash and zsh read it alike.
 * Not called `words` and `path`: those are zsh's own.
 */
function findCandidates(program: Command, before: string): string {
  const all = wordsOf(program);
  const paths = all.map(({ path }) => `'${path}'`).join('|');
  const words = all.map(({ path, words }) => `    '${path}') candidates='${words.join(' ')}' ;;`);
  const choices = [...choicesOf(program)].map(
    ([long, words]) => `    ${writtenAs(long).join('|')}) candidates='${words.join(' ')}' ;;`,
  );
  return `  local so_far=muster candidates='' names='' previous='' word
  for word in ${before}; do
    previous=$word
    [[ $word == -- ]] && return 1
    case "$so_far $word" in ${paths}) so_far="$so_far $word" ;; esac
  done
  case "$so_far" in
${words.join('\n')}
  esac
  case "$so_far" in
${nameCases(program)
  .map(([paths, kind]) => `    ${paths.join('|')}) names=${kind} ;;`)
  .join('\n')}
  esac
  case "$previous" in
${choices.join('\n')}
    ${POOL_OPTIONS.join('|')}) candidates='' names=pool ;;
  esac
  [[ -n $names ]] && candidates="$candidates $(muster completion --names "$names" 2>/dev/null)"`;
}

const bashScript = (program: Command): string => `_muster() {
${findCandidates(program, '"\x24{COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  COMPREPLY=($(compgen -W "$candidates" -- "$2"))
}
complete -o default -F _muster muster`;

const zshScript = (program: Command): string => `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_muster_candidates() {
${findCandidates(program, '"$@"')}
  compadd -- \${=candidates}
}
_muster() { _muster_candidates "\${(@)words[2,CURRENT-1]}" || _default }
compdef _muster muster`;

function fishScript(program: Command): string {
  const all = wordsOf(program);
  const cases = all.map(({ path, words }) => `        case '${path}'\n            printf '%s\\n' ${words.join(' ')}`);
  const choices = [...choicesOf(program)].map(
    ([long, words]) =>
      `        case ${writtenAs(long).join(' ')}\n            printf '%s\\n' ${words.join(' ')}\n            return`,
  );
  return `function __muster_candidates
    set -l before (commandline -opc)
    switch $before[-1]
${choices.join('\n')}
        case ${POOL_OPTIONS.join(' ')}
            muster completion --names pool 2>/dev/null
            return
    end
    set -l so_far muster
    for word in $before[2..]
        contains -- "$so_far $word" ${all.map(({ path }) => `'${path}'`).join(' ')}; and set so_far "$so_far $word"
    end
    switch $so_far
${cases.join('\n')}
    end
    switch $so_far
${nameCases(program)
  .map(([paths, kind]) => `        case ${paths.join(' ')}\n            muster completion --names ${kind} 2>/dev/null`)
  .join('\n')}
    end
end
complete -c muster -e
complete -c muster -n 'not contains -- -- (commandline -opc)' -a '(__muster_candidates)'`;
}

const SCRIPTS: Readonly<Record<string, (program: Command) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

const SHELLS = Object.keys(SCRIPTS).join(', ');

function completionCommand(cli: Cli): Command {
  return new Command('completion')
    .description('print a completion script: source <(muster completion bash)')
    .argument('[shell]', SHELLS)
    .addOption(
      new Option('--names <kind>', 'print names that a word may be completed to').choices(NAME_KINDS).hideHelp(),
    )
    .action(async (shell: string | undefined, { names }: { names?: NameKind }, command: Command) => {
      if (names) {
        const found = await namesOfKind(cli, names, () => clientOf(cli, command));
        return found.length === 0 ? undefined : print(cli.terminal, found.join('\n'));
      }
      if (shell === undefined) throw new Fault('invalid', 'The shell is missing.', { remedy: `Use ${SHELLS}.` });
      const script = SCRIPTS[shell];
      if (!script) throw new Fault('unsupported', `There is no completion for ${shell}.`, { remedy: `Use ${SHELLS}.` });
      print(cli.terminal, script(command.parent as Command));
    });
}

export const commands: readonly CliCommand[] = [{ name: 'completion', order: 190, make: completionCommand }];
