// Finds the commands in a step's output like GitHub's runner, after its sources (actions/runner,
// src/Runner.Common/ActionCommand.cs and src/Runner.Worker/ActionCommandManager.cs).
//
// The runner reads each output separately, by lines, and looks in each for a command of its second kind and then of its
// first: `::name key=value,key=value::data` where the line begins, `##[name key=value;key=value]data` anywhere in it.

export type Command = { name: string; properties: Record<string, string>; data: string };

/** Commands in the order of their lines; text between `stop-commands` and its token has none. */
export function commandsIn(output: Uint8Array): Command[] {
  const commands: Command[] = [];
  let token: string | undefined;
  for (const line of linesOf(output)) {
    const names = token === undefined ? registered : new Set([...registered, token]);
    const command = commandOf(line, names);
    if (command === undefined) continue;
    if (token === undefined) commands.push(command);
    if (token === undefined && command.name === 'stop-commands') token = command.data.toLowerCase();
    else if (command.name === token) token = undefined;
  }
  return commands;
}

const registered: ReadonlySet<string> = new Set([
  'set-output',
  'save-state',
  'set-env',
  'add-path',
  'add-mask',
  'add-matcher',
  'remove-matcher',
  'error',
  'warning',
  'notice',
  'debug',
  'group',
  'endgroup',
  'echo',
  'stop-commands',
]);

/** .NET's `StreamReader` prefers a byte order mark to the given encoding, and drops it. */
function linesOf(output: Uint8Array): string[] {
  const [first, second] = output;
  const is = (one: number, other: number) => first === one && second === other;
  const encoding = is(0xfe, 0xff) ? 'utf-16be' : is(0xff, 0xfe) ? 'utf-16le' : 'utf-8';
  return new TextDecoder(encoding).decode(output).split(/\r\n|\r|\n/);
}

/** Names are case-insensitive; here they are in lower case. */
export const commandOf = (line: string, names: ReadonlySet<string> = registered): Command | undefined =>
  secondKind(line, names) ?? firstKind(line, names);

function secondKind(line: string, names: ReadonlySet<string>): Command | undefined {
  const trimmed = trimStart(line);
  const end = trimmed.indexOf('::', 2);
  if (!trimmed.startsWith('::') || end < 0) return undefined;
  const [name = '', ...rest] = trimmed.slice(2, end).split(' ');
  const text = `${name} ${rest.join(' ').trim()}`;
  const command = named(text, { separator: ',', escapes: ':,', names });
  return command && { ...command, data: unescaped(trimmed.slice(end + 2), '') };
}

function firstKind(line: string, names: ReadonlySet<string>): Command | undefined {
  const start = line.indexOf('##[');
  const end = line.indexOf(']', start);
  if (start < 0 || end < 0) return undefined;
  const command = named(line.slice(start + 3, end), { separator: ';', escapes: ';]', names });
  return command && { ...command, data: unescaped(line.slice(end + 1), ';]') };
}

type Kind = { separator: string; escapes: string; names: ReadonlySet<string> };

function named(text: string, { separator, escapes, names }: Kind): Omit<Command, 'data'> | undefined {
  const [written = '', ...rest] = text.split(' ');
  const name = written.toLowerCase();
  if (!names.has(name)) return undefined;
  const pairs = rest
    .join(' ')
    .split(separator)
    .map((pair) => /^=*([^=]+)=(.+)$/s.exec(pair));
  const properties = pairs.flatMap((pair) =>
    pair ? [[pair[1] ?? '', unescaped(pair[2] ?? '', escapes)] as const] : [],
  );
  return { name, properties: Object.fromEntries(properties) };
}

/** Replaces escapes of these characters, of line breaks, and finally of `%`. */
function unescaped(text: string, characters: string): string {
  let result = text;
  for (const character of [...characters, '\r', '\n', '%']) {
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
    result = result.replaceAll(`%${code}`, character);
  }
  return result;
}

/** Trims .NET's white space, which is less than JavaScript's: a byte order mark is none. */
const trimStart = (line: string): string => line.replace(/^[\t-\r\x85\p{Z}]+/u, '');
