import { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import type { Cli } from './command.ts';
import { print } from './terminal.ts';

/** Every word that may follow a command, as `path: words`. */
function wordsOf(command: Command, path: string): [string, string[]][] {
  const names = command.commands.filter((child) => !child.name().startsWith('_')).map((child) => child.name());
  const options = command.options.flatMap((option) => (option.long ? [option.long] : []));
  const below = command.commands.flatMap((child) => wordsOf(child, `${path} ${child.name()}`));
  return [[path, [...names, ...options]], ...below];
}

function bashScript(program: Command): string {
  const cases = wordsOf(program, 'muster').map(([path, words]) => `    '${path}') words='${words.join(' ')}' ;;`);
  return `_muster() {
  local path=muster words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $word == -* ]] || path="$path $word"; done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _muster muster`;
}

const zshScript = (program: Command): string => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(program)}`;

function fishScript(program: Command): string {
  return wordsOf(program, 'muster')
    .map(([path, words]) => {
      const seen = path.split(' ').slice(1);
      const condition =
        seen.length === 0
          ? '__fish_use_subcommand'
          : seen.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
      return `complete -c muster -f -n '${condition}' -a '${words.join(' ')}'`;
    })
    .join('\n');
}

const SCRIPTS: Readonly<Record<string, (program: Command) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export function completionCommand(cli: Cli): Command {
  return new Command('completion')
    .description('print a script for your shell: source <(muster completion bash)')
    .argument('<shell>', Object.keys(SCRIPTS).join(', '))
    .action((shell: string, _options, command: Command) => {
      const script = SCRIPTS[shell];
      if (!script) {
        throw new Fault('unsupported', `There is no completion for ${shell}.`, {
          remedy: `Use one of ${Object.keys(SCRIPTS).join(', ')}.`,
        });
      }
      print(cli.terminal, script(command.parent as Command));
    });
}
