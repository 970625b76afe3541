// Lists the functions of a guest's kernel and modules, with the module of each.
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { maxSymbolBytes } from './guests.ts';

export type Symbols = {
  /** Output of kldstat(8): a different one means different addresses. */
  modules: string;
  /** Lines like those of /proc/kallsyms on Linux, `ffffffff82e01000 t pf_test	[pf.ko]`. */
  table: string;
};

/**
 * Reads ksyms(4), unless the modules are still those of `known`, as it takes seconds. Uses readelf(1): nm(1) needs the
 * symbols' sections, which the file lacks.
 */
export async function symbolsOf(host: Host, known?: Symbols): Promise<Symbols> {
  const copy = '/var/tmp/ppsgate.ksyms';
  await host.output(shell`kldload -n ksyms`);
  const modules = await host.output(shell`kldstat`);
  if (known?.modules === modules) return known;
  await host.output(shell`cp ${'/dev/ksyms'} ${copy}`);
  const options = { maxOutputBytes: maxSymbolBytes };
  const table = await host.output(shell`readelf -sW ${copy}`, options);
  return { modules, table: tableOf(table, modules) };
}

function tableOf(table: string, modules: string): string {
  const ranges = rangesIn(modules);
  return [...table.matchAll(functionRow)]
    .map(([, address = '0', name]) => {
      const at = BigInt(`0x${address}`);
      const own = ranges.find(({ from, to }) => at >= from && at < to);
      return `${address} t ${name}${own === undefined ? '' : `\t[${own.file}]`}\n`;
    })
    .join('');
}

/** Number, address, size, type, binding, visibility, section and name. */
const functionRow = /^ *\d+: ([0-9a-f]{16}) +\S+ FUNC +\S+ +\S+ +\S+ (\S+)$/gm;

/** Omits the kernel's own range. */
function rangesIn(modules: string): { from: bigint; to: bigint; file: string }[] {
  return [...modules.matchAll(moduleRow)].map(([, address, size, file = '']) => {
    const from = BigInt(`0x${address}`);
    return { from, to: from + BigInt(`0x${size}`), file };
  });
}

/** Id, references, address, size and name of a module: ` 2    1 0xffffffff81a18000     22a8 virtio_random.ko`. */
const moduleRow = /^ *\d+ +\d+ 0x([0-9a-f]{1,16}) +([0-9a-f]{1,16}) (\S{1,60}\.ko)$/gm;
