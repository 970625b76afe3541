// Generates shell completion scripts, quoted for each shell.

export type Completed = {
  /** Names below the program, whose own path is empty. */
  path: readonly string[];
  commands: readonly { name: string; description: string }[];
  flags: readonly Flag[];
  values: readonly (Value & { isRepeated: boolean })[];
};

export type Flag = { names: readonly string[]; description: string; value?: Value };

/** `list`: choices separated by commas. */
export type Value = {
  name: string;
  kind: 'path' | 'one' | 'list' | 'any';
  choices: readonly string[];
};

export const scripts = { bash, zsh, fish };

/** Works from bash 3.2 on, the version of macOS. */
function bash(all: readonly Completed[]): string {
  return `# bash completion of ppsgate, made by \`ppsgate completion bash\`.

# Sets what may follow the words of a command.
_ppsgate_after() {
  commands=() options=()
  case $1 in
${all
  .map(
    ({ path, commands, flags }) => `    ${quoted(keyOf(path))})
      commands=(${words(commands.map(({ name }) => name))})
      options=(${words(flags.flatMap(({ names }) => names))})
      ;;
`,
  )
  .join('')}  esac
}

# Sets what the option or argument of a command takes; nothing where it is a switch.
_ppsgate_value() {
  takes='' choices=()
  case $1 in
${all.flatMap(valuesOf).map(bashValue).join('')}  esac
}

_ppsgate() {
  local path='' cur=\${COMP_WORDS[COMP_CWORD]} takes='' word='' given=0 before='' i
  local -a commands options choices
  COMPREPLY=()
  _ppsgate_after ''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == = ]]; then
      continue
    elif [[ -n $takes ]]; then
      takes=''
    elif [[ $word == -- ]]; then
      return
    elif [[ $word == -* ]]; then
      _ppsgate_value "$path $word"
    elif [[ " \${commands[*]} " == *" $word "* ]]; then
      path+=" $word"
      _ppsgate_after "$path"
    else
      ((given += 1))
    fi
  done
  [[ $cur == = ]] && cur=''
  if [[ -z $takes && $cur == -* ]]; then
    choices=("\${options[@]}")
  elif [[ -z $takes ]]; then
    _ppsgate_value "$path $given"
    [[ -z $takes ]] && _ppsgate_value "$path *"
    [[ $given == 0 ]] && choices+=("\${commands[@]}")
  fi
  if [[ $takes == path ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
    return
  fi
  [[ $takes == list && $cur == *,* ]] && before=\${cur%,*},
  for word in "\${choices[@]}"; do
    [[ $before$word == "$cur"* ]] && COMPREPLY+=("$before$word")
  done
}

complete -F _ppsgate ppsgate
`;
}

/** ` testbeds check`: key of a command in scripts. */
const keyOf = (path: readonly string[]): string => path.map((name) => ` ${name}`).join('');

/** Values with the key of their option or argument; `*` stands for all further arguments. */
function valuesOf({ path, flags, values }: Completed): { keys: string[]; value: Value }[] {
  const key = keyOf(path);
  return [
    ...flags.flatMap(({ names, value }) =>
      value === undefined ? [] : [{ keys: names.map((name) => `${key} ${name}`), value }],
    ),
    ...values.map((value, index) => ({
      keys: [`${key} ${value.isRepeated ? '*' : index}`],
      value,
    })),
  ];
}

const bashValue = ({ keys, value }: { keys: string[]; value: Value }): string =>
  `    ${keys.map(quoted).join(' | ')}) takes=${value.kind} choices=(${words(value.choices)}) ;;\n`;

/** Quotes for bash and zsh. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const words = (all: readonly string[]): string => all.map(quoted).join(' ');

function zsh(all: readonly Completed[]): string {
  return `#compdef ppsgate
# zsh completion of ppsgate, made by \`ppsgate completion zsh\`.

${all.map(zshFunction).join('\n')}
if [[ $funcstack[1] == _ppsgate ]]; then
  _ppsgate "$@"
else
  compdef _ppsgate ppsgate
fi
`;
}

const zshName = (path: readonly string[]): string => ['_ppsgate', ...path].join('_');

function zshFunction({ path, commands, flags, values }: Completed): string {
  const specs = flags.flatMap(zshFlag);
  const name = zshName(path);
  if (commands.length === 0) {
    return `${name}() {
  _arguments -s -S ${[...specs, ...values.map(zshArgument)].map(continued).join('')}
}
`;
  }
  const described = commands.map(({ name, description }) =>
    quoted(`${escaped(name, ':')}:${escaped(description, ':')}`),
  );
  return `${name}() {
  local curcontext=$curcontext state line ret=1
  local -a commands
  typeset -A opt_args
  _arguments -C -s ${[...specs, ': :->command', '*:: :->arguments'].map(continued).join('')} && ret=0
  case $state in
    command)
      commands=(
${described.map((one) => `        ${one}\n`).join('')}      )
      _describe -t commands command commands && ret=0
      ;;
    arguments)
      case $line[1] in
${commands
  .filter(({ name }) => name !== 'help')
  .map(({ name }) => `        ${name}) ${zshName([...path, name])} && ret=0 ;;\n`)
  .join('')}      esac
      ;;
  esac
  return ret
}
`;
}

const continued = (spec: string): string => `\\\n    ${quoted(spec)}`;

const zshFlag = ({ names, description, value }: Flag): string[] =>
  names.map((name) => {
    const others = names.length > 1 ? `(${names.join(' ')})` : '';
    const takes = value === undefined ? '' : zshValue(value);
    const mark = value !== undefined && name.startsWith('--') ? '=' : '';
    return `${others}${name}${mark}[${escaped(description, '[]')}]${takes}`;
  });

const zshArgument = (value: Completed['values'][number]): string => `${value.isRepeated ? '*' : ''}${zshValue(value)}`;

function zshValue({ name, kind, choices }: Value): string {
  const actions = {
    path: '_files',
    one: `(${choices.join(' ')})`,
    list: `_values -s , ${name} ${choices.join(' ')}`,
    any: ' ',
  };
  return `:${escaped(name, ':')}:${actions[kind]}`;
}

const escaped = (text: string, signs: string): string =>
  [...text].map((sign) => (`\\${signs}`.includes(sign) ? `\\${sign}` : sign)).join('');

function fish(all: readonly Completed[]): string {
  const valued = all.flatMap(({ path, flags }) =>
    flags
      .filter(({ value }) => value !== undefined)
      .flatMap(({ names }) => names.map((name) => `${keyOf(path)} ${name}`)),
  );
  return `# fish completion of ppsgate, made by \`ppsgate completion fish\`.

# Succeeds if the words before the cursor name this command.
function __ppsgate_is
    set -l path ''
    set -l skips ''
    for word in (commandline -opc)[2..-1]
        if test -n "$skips"
            set skips ''
            continue
        end
        switch "$path $word"
            case ${all.flatMap(({ path }) => (path.length === 0 ? [] : [fishWord(keyOf(path))])).join(' ')}
                set path "$path $word"
            case ${valued.map(fishWord).join(' ')}
                set skips yes
        end
    end
    test "$path" = "$argv[1]"
end

complete -c ppsgate -f
${all.map(fishCommand).join('')}`;
}

function fishCommand({ path, commands, flags, values }: Completed): string {
  const when = `complete -c ppsgate -n ${fishWord(`__ppsgate_is ${fishWord(keyOf(path))}`)}`;
  const lines = [
    ...commands.map(({ name, description }) => `-a ${fishWord(name)} -d ${fishWord(description)}`),
    ...flags.map(
      ({ names, description, value }) =>
        `${names.map(fishName).join(' ')} -d ${fishWord(description)}${value === undefined ? '' : ` -r ${fishValue(value)}`}`,
    ),
    ...values.filter(({ kind }) => kind !== 'any').map(fishValue),
  ];
  return lines.map((line) => `${when} ${line}\n`).join('');
}

const fishName = (name: string): string => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`);

function fishValue({ kind, choices }: Value): string {
  const offered = {
    path: '-F',
    one: `-f -a ${fishWord(choices.join(' '))}`,
    list: `-f -a ${fishWord(`(__fish_append , ${choices.join(' ')})`)}`,
    any: '-f',
  };
  return offered[kind];
}

const fishWord = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
