import { describe, expect, it } from 'vitest';
import { commandText } from '../parts/session-rows.tsx';
import { readCommand } from './command-words.ts';

describe('a command in one line', () => {
  it.each([
    ['python train.py  --epochs 3', ['python', 'train.py', '--epochs', '3']],
    [`echo 'a b' "c d" e\\ f`, ['echo', 'a b', 'c d', 'e f']],
    [`echo "say \\"hi\\"" 'it'\\''s' ""`, ['echo', 'say "hi"', "it's", '']],
    [`grep -E '^[a|b]$' *.txt`, ['grep', '-E', '^[a|b]$', '*.txt']],
    [`awk '{print $1}\nEND {}'`, ['awk', '{print $1}\nEND {}']],
    ['printf "a\\nb"', ['printf', 'a\\nb']],
    ['  true  ', ['true']],
  ])('%j has the words that a shell would read', (text, words) => {
    expect(readCommand(text)).toEqual({ words });
  });

  it.each([
    ['make && make test', '& has a meaning only in a shell'],
    ['cat a | wc', '| has a meaning only in a shell'],
    ['echo $HOME', '$ has a meaning only in a shell'],
    ['echo "$HOME"', '$ has a meaning only in a shell'],
    ['echo `id`', '` has a meaning only in a shell'],
    ['true\nfalse', 'A second line has a meaning only in a shell'],
    ["echo 'open", "A quote ' has no end."],
    ['  ', 'Write the command to run.'],
  ])('%j is refused with the reason', (text, fault) => {
    expect(readCommand(text).fault).toContain(fault);
  });

  it('is read back as it is shown, whatever its words hold', () => {
    const commands = [
      ['sh', '-c', 'a "b" | c > d; echo $X `y` \\ \n*'],
      ['x', '', "it's", '\\', 'é ✓', '\t', '#', '~', '!'],
    ];
    for (const command of commands) expect(readCommand(commandText(command))).toEqual({ words: command });
  });
});
