// Completions in bash, zsh and fish with the scripts that `ppsgate completion` prints.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { type Completed, scripts } from '../../../src/cli/commands/completion-scripts.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { describeWith, testWith } from '../../needs.ts';

const cli = join(inject('bundle'), 'cli.js');

const run = (...words: string[]) => spawnSync(process.execPath, [cli, 'completion', ...words], { encoding: 'utf8' });

/** Completions of a typed line, in a folder with two files. */
type Offer = (script: string, line: string) => string[];

function inFolder(script: string) {
  const folder = temporaryFolder();
  const path = join(folder, 'script');
  writeFileSync(path, script);
  for (const name of ['pmc.graph', 'a file']) writeFileSync(join(folder, name), '');
  const call = (program: string, words: string[]): string =>
    execFileSync(program, words, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, HOME: folder },
    });
  return { folder, path, call };
}

const bash: Offer = (script, line) => {
  const { path, call } = inFolder(script);
  // bash itself also splits the line at = and :, which then are words.
  const driver = `
    source "$1"; shift
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    _ppsgate
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const words = line.replaceAll('=', ' = ').split(/ +/);
  return linesOf(call('bash', ['--norc', '-c', driver, 'bash', path, ...words]));
};

const fish: Offer = (script, line) => {
  const { path, call } = inFolder(script);
  const driver = 'source $argv[1]; complete -C $argv[2]';
  const shown = linesOf(call('fish', ['--no-config', '-c', driver, path, line]));
  return shown.map((one) => one.replace(/\t.*/, ''));
};

/** A zsh in a separate terminal, whose compadd prints its arguments. */
const zshDriver = `
zmodload zsh/zpty
cat >setup <<'END'
PROMPT=
autoload -Uz compinit
compinit -u -D
source ./script
compadd() {
  local -a offered
  if [[ " \${(j: :)@} " == *' -'[OAD]' '* ]]; then
    builtin compadd "$@"
    return
  fi
  builtin compadd -A offered "$@"
  for one in $offered; do print -rn -- "<<$one>>"; done
  (( $#offered ))
}
capture() { compstate[insert]= ; _main_complete; print -n DONE }
zle -C capture complete-word capture
bindkey '^I' capture
print READY
END
zpty terminal zsh -f -i
zpty -w terminal 'source ./setup'
zpty -r terminal shown '*READY*'
zpty -w -n terminal "$1"$'\\t'
zpty -r terminal shown '*DONE*'
print -r -- $shown
zpty -d terminal
`;

const zsh: Offer = (script, line) => {
  const shown = inFolder(script).call('zsh', ['-f', '-c', zshDriver, 'zsh', line]);
  return [...shown.matchAll(/<<(.+?)>>/g)].map(([, word = '']) => word);
};

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** Shells differ in whether they offer the part that is written already. */
const lastPart = (word: string): string => word.replace(/^.*[,=](?=.)/, '');

describe.each(Object.entries({ bash, zsh, fish }))('%s', (shell, offer) => {
  describeWith([shell], 'completes', () => {
    const { stdout: script } = run(shell);

    test.each([
      ['ppsgate te', ['testbeds']],
      ['ppsgate testbeds ch', ['check']],
      ['ppsgate testbeds check --no', ['--no-traffic']],
      ['ppsgate --debug testbeds check --no', ['--no-traffic']],
      ['ppsgate gate --metric ', ['instructionsPerPacket', 'nsPerPacket', 'pps']],
      ['ppsgate gate --priority=re', ['release', 'rerun']],
      ['ppsgate gate --scenarios forwarding,pf-', ['pf-stateful', 'pf-stateless']],
      ['ppsgate gate --margin ', []],
      // A value equal to a command's name, which has other options.
      ['ppsgate gate --patch lab --js', ['--json']],
      ['ppsgate completion ', ['bash', 'fish', 'zsh']],
      ['ppsgate flamegraph p', ['pmc.graph']],
      ['ppsgate flamegraph --base=p', ['pmc.graph']],
      ['ppsgate lab ', ['check', 'down', 'help', 'up']],
    ])('%s', (line, expected) => {
      expect(offer(script, line).map(lastPart).toSorted()).toEqual(expected);
    });

    test('no text of a description is executed', () => {
      const { folder } = inFolder('');
      const says = `it's $(touch ${folder}/run) \`touch ${folder}/run\`; touch ${folder}/run "[a]" 100% \\ \\' :b\n`;
      const hostile: Completed[] = [
        {
          path: [],
          commands: [{ name: 'gate', description: says }],
          flags: [
            {
              names: ['-m', '--margin'],
              description: says,
              value: { name: says, kind: 'any', choices: [] },
            },
          ],
          values: [],
        },
        {
          path: ['gate'],
          commands: [],
          flags: [{ names: ['--json'], description: says }],
          values: [],
        },
      ];
      const made = scripts[shell as keyof typeof scripts](hostile);
      expect(offer(made, 'ppsgate ga')).toEqual(['gate']);
      expect(offer(made, 'ppsgate --ma').map((word) => word.replace(/=$/, ''))).toEqual(['--margin']);
      expect(offer(made, 'ppsgate gate --j')).toEqual(['--json']);
      expect(existsSync(join(folder, 'run'))).toBe(false);
    });
  });
});

testWith(['fish'], 'fish shows what a command and an option do', () => {
  const { path, call } = inFolder(run('fish').stdout);
  const shown = (line: string) => call('fish', ['-c', 'source $argv[1]; complete -C $argv[2]', path, line]);
  expect(shown('ppsgate qua')).toBe('quarantine\tput a testbed into quarantine, or lift it\n');
  expect(shown('ppsgate gate --met')).toBe('--metric\tpps, nsPerPacket or instructionsPerPacket\n');
});

testWith(['shellcheck'], 'shellcheck has nothing to say of the script for bash', () => {
  const { path, call } = inFolder(run('bash').stdout);
  expect(call('shellcheck', ['--shell=bash', path])).toBe('');
});

test('another shell is wrong usage, and the error lists the known ones', () => {
  const { status, stderr } = run('tcsh');
  expect(status).toBe(2);
  expect(stderr).toContain('bash, zsh, fish');
});
