// Parses command lines like getopt(3).
import { notModelled } from '../process.ts';

type Option = { name: string; value: string };

export type Options = {
  /** In the order given; `value` is empty for an option that takes none. */
  given: readonly Option[];
  operands: readonly string[];
  has(name: string): boolean;
  value(name: string): string | undefined;
};

/** `spec` is getopt(3)'s optstring of the options that the lab implements; tests must not use others. */
export function readOptions(args: readonly string[], spec: string): Options {
  const given: Option[] = [];
  const operands = [...args];
  while (operands[0]?.startsWith('-') && operands[0] !== '-') {
    let cluster = (operands.shift() ?? '').slice(1);
    while (cluster !== '') {
      const name = cluster.charAt(0);
      cluster = cluster.slice(1);
      const place = spec.indexOf(name);
      if (place === -1) notModelled();
      const takesValue = spec[place + 1] === ':';
      given.push({ name, value: takesValue ? cluster || (operands.shift() ?? notModelled()) : '' });
      if (takesValue) break;
    }
  }
  const value = (name: string) => given.findLast((option) => option.name === name)?.value;
  return { given, operands, has: (name) => value(name) !== undefined, value };
}
