import { Argument } from "../../vendor/commander.js";
import { exitCodes, metrics, priorities } from "../../model/first-plain.js";
import { designNames, families, scenarios } from "../../model/first.js";
import { runToExit } from "../../system/exit.js";

// src/cli/commands/completion-scripts.ts
const scripts = {
	bash,
	zsh,
	fish
};
/** Works from bash 3.2 on, the version of macOS. */
function bash(all) {
	return `# bash completion of ppsgate, made by \`ppsgate completion bash\`.

# Sets what may follow the words of a command.
_ppsgate_after() {
  commands=() options=()
  case $1 in
${all.map(({ path, commands, flags }) => `    ${quoted(keyOf(path))})
      commands=(${words(commands.map(({ name }) => name))})
      options=(${words(flags.flatMap(({ names }) => names))})
      ;;
`).join("")}  esac
}

# Sets what the option or argument of a command takes; nothing where it is a switch.
_ppsgate_value() {
  takes='' choices=()
  case $1 in
${all.flatMap(valuesOf).map(bashValue).join("")}  esac
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
const keyOf = (path) => path.map((name) => ` ${name}`).join("");
/** Values with the key of their option or argument; `*` stands for all further arguments. */
function valuesOf({ path, flags, values }) {
	const key = keyOf(path);
	return [...flags.flatMap(({ names, value }) => value === void 0 ? [] : [{
		keys: names.map((name) => `${key} ${name}`),
		value
	}]), ...values.map((value, index) => ({
		keys: [`${key} ${value.isRepeated ? "*" : index}`],
		value
	}))];
}
const bashValue = ({ keys, value }) => `    ${keys.map(quoted).join(" | ")}) takes=${value.kind} choices=(${words(value.choices)}) ;;\n`;
/** Quotes for bash and zsh. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const words = (all) => all.map(quoted).join(" ");
function zsh(all) {
	return `#compdef ppsgate
# zsh completion of ppsgate, made by \`ppsgate completion zsh\`.

${all.map(zshFunction).join("\n")}
if [[ $funcstack[1] == _ppsgate ]]; then
  _ppsgate "$@"
else
  compdef _ppsgate ppsgate
fi
`;
}
const zshName = (path) => ["_ppsgate", ...path].join("_");
function zshFunction({ path, commands, flags, values }) {
	const specs = flags.flatMap(zshFlag);
	const name = zshName(path);
	if (commands.length === 0) return `${name}() {
  _arguments -s -S ${[...specs, ...values.map(zshArgument)].map(continued).join("")}
}
`;
	const described = commands.map(({ name, description }) => quoted(`${escaped(name, ":")}:${escaped(description, ":")}`));
	return `${name}() {
  local curcontext=$curcontext state line ret=1
  local -a commands
  typeset -A opt_args
  _arguments -C -s ${[
		...specs,
		": :->command",
		"*:: :->arguments"
	].map(continued).join("")} && ret=0
  case $state in
    command)
      commands=(
${described.map((one) => `        ${one}\n`).join("")}      )
      _describe -t commands command commands && ret=0
      ;;
    arguments)
      case $line[1] in
${commands.filter(({ name }) => name !== "help").map(({ name }) => `        ${name}) ${zshName([...path, name])} && ret=0 ;;\n`).join("")}      esac
      ;;
  esac
  return ret
}
`;
}
const continued = (spec) => `\\\n    ${quoted(spec)}`;
const zshFlag = ({ names, description, value }) => names.map((name) => {
	const others = names.length > 1 ? `(${names.join(" ")})` : "";
	const takes = value === void 0 ? "" : zshValue(value);
	return `${others}${name}${value !== void 0 && name.startsWith("--") ? "=" : ""}[${escaped(description, "[]")}]${takes}`;
});
const zshArgument = (value) => `${value.isRepeated ? "*" : ""}${zshValue(value)}`;
function zshValue({ name, kind, choices }) {
	const actions = {
		path: "_files",
		one: `(${choices.join(" ")})`,
		list: `_values -s , ${name} ${choices.join(" ")}`,
		any: " "
	};
	return `:${escaped(name, ":")}:${actions[kind]}`;
}
const escaped = (text, signs) => [...text].map((sign) => `\\${signs}`.includes(sign) ? `\\${sign}` : sign).join("");
function fish(all) {
	const valued = all.flatMap(({ path, flags }) => flags.filter(({ value }) => value !== void 0).flatMap(({ names }) => names.map((name) => `${keyOf(path)} ${name}`)));
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
            case ${all.flatMap(({ path }) => path.length === 0 ? [] : [fishWord(keyOf(path))]).join(" ")}
                set path "$path $word"
            case ${valued.map(fishWord).join(" ")}
                set skips yes
        end
    end
    test "$path" = "$argv[1]"
end

complete -c ppsgate -f
${all.map(fishCommand).join("")}`;
}
function fishCommand({ path, commands, flags, values }) {
	const when = `complete -c ppsgate -n ${fishWord(`__ppsgate_is ${fishWord(keyOf(path))}`)}`;
	return [
		...commands.map(({ name, description }) => `-a ${fishWord(name)} -d ${fishWord(description)}`),
		...flags.map(({ names, description, value }) => `${names.map(fishName).join(" ")} -d ${fishWord(description)}${value === void 0 ? "" : ` -r ${fishValue(value)}`}`),
		...values.filter(({ kind }) => kind !== "any").map(fishValue)
	].map((line) => `${when} ${line}\n`).join("");
}
const fishName = (name) => name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`;
function fishValue({ kind, choices }) {
	return {
		path: "-F",
		one: `-f -a ${fishWord(choices.join(" "))}`,
		list: `-f -a ${fishWord(`(__fish_append , ${choices.join(" ")})`)}`,
		any: "-f"
	}[kind];
}
const fishWord = (text) => `'${text.replace(/[\\']/g, "\\$&")}'`;

// src/cli/commands/completion.ts
const shells = [
	"bash",
	"zsh",
	"fish"
];
function defineCompletion(command, load) {
	command.addArgument(new Argument("<shell>", "shell that completes the commands").choices(shells)).addHelpText("after", details).action(async (shell) => {
		await runToExit(async () => {
			process.stdout.write(scripts[shell](completed(await load())));
			return exitCodes.pass;
		}, command.optsWithGlobals());
	});
}
const details = `
Example:
  ppsgate completion bash

To load it in every new shell, run one of these once; zsh accepts any folder of
its fpath:
  ppsgate completion bash > \\
    ~/.local/share/bash-completion/completions/ppsgate
  ppsgate completion zsh > /usr/local/share/zsh/site-functions/_ppsgate
  ppsgate completion fish > ~/.config/fish/completions/ppsgate.fish`;
function completed(command, path = []) {
	const help = command.createHelp();
	const commands = help.visibleCommands(command);
	const inherited = ancestorsOf(command).flatMap((ancestor) => help.visibleOptions(ancestor));
	const options = [...help.visibleOptions(command), ...inherited].map(flagOf);
	return [{
		path,
		commands: commands.map((one) => ({
			name: one.name(),
			description: one.description()
		})),
		flags: options.filter(isFirstOfItsName),
		values: command.registeredArguments.map((argument) => ({
			...taken(argument.name(), argument.name(), argument.argChoices),
			isRepeated: argument.variadic
		}))
	}, ...command.commands.flatMap((one) => completed(one, [...path, one.name()]))];
}
const ancestorsOf = ({ parent }) => parent === null ? [] : [parent, ...ancestorsOf(parent)];
const isFirstOfItsName = ({ names }, index, all) => all.findIndex((other) => other.names.some((name) => names.includes(name))) === index;
function flagOf(option) {
	const { short, long, description, flags } = option;
	const [, placeholder] = /[<[](.+?)(?:\.\.\.)?[>\]]/.exec(flags) ?? [];
	return {
		names: [short, long].filter((name) => name !== void 0),
		description,
		...placeholder !== void 0 && { value: taken(option.attributeName(), placeholder) }
	};
}
function taken(name, placeholder, choices = choicesOf[name]) {
	if (choices !== void 0) return {
		name: placeholder,
		kind: placeholder === "list" ? "list" : "one",
		choices
	};
	return {
		name: placeholder,
		kind: /file|dir/i.test(placeholder) ? "path" : "any",
		choices: []
	};
}
/** By option name in code; commander itself cannot check these, as it knows no lists or units. */
const choicesOf = {
	priority: priorities,
	scenarios,
	scenario: scenarios,
	families,
	family: families,
	metric: metrics,
	design: designNames,
	profile: ["on", "off"],
	earlier: ["all"],
	runner: ["ubuntu-latest"]
};

export { defineCompletion };