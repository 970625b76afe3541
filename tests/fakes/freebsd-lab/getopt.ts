// getopt(3) of FreeBSD: short options only, and none after the first operand.

export type Options =
  | {
      kind: 'parsed';
      /** Options in the order given; `value` is empty for an option that takes none. */
      options: readonly Option[];
      operands: readonly string[];
    }
  | { kind: 'refused'; message: string };

export type Option = { name: string; value: string };

/** `spec` is getopt(3)'s optstring; its messages begin with `program`. */
export function getopt(program: string, spec: string, args: readonly string[]): Options {
  const options: Option[] = [];
  const rest = [...args];
  while (rest[0]?.startsWith('-') && rest[0] !== '-') {
    const cluster = (rest.shift() ?? '').slice(1);
    if (cluster === '-') break;
    const refusal = readCluster(cluster, program, spec, rest, options);
    if (refusal !== undefined) return { kind: 'refused', message: refusal };
  }
  return { kind: 'parsed', options, operands: rest };
}

function readCluster(
  cluster: string,
  program: string,
  spec: string,
  rest: string[],
  options: Option[],
): string | undefined {
  for (let index = 0; index < cluster.length; index++) {
    const name = cluster.charAt(index);
    const place = name === ':' ? -1 : spec.indexOf(name);
    if (place === -1) return `${program}: illegal option -- ${name}`;
    if (spec[place + 1] !== ':') {
      options.push({ name, value: '' });
      continue;
    }
    const value = cluster.slice(index + 1) || rest.shift();
    if (value === undefined) return `${program}: option requires an argument -- ${name}`;
    options.push({ name, value });
    return undefined;
  }
  return undefined;
}

/** True if the option was given. */
export const hasOption = (options: readonly Option[], name: string): boolean =>
  options.some((option) => option.name === name);

export const optionValue = (options: readonly Option[], name: string): string | undefined =>
  options.findLast((option) => option.name === name)?.value;
