// readelf: the functions of a kernel and, through ksyms(4), of its modules.
import { type FileNode, textOf } from '../file-system.ts';
import type { Machine } from '../machine.ts';
import { fail, type Process, type Program } from '../process.ts';
import { readOptions } from './options.ts';

export const symbolPrograms: Readonly<Record<string, Program>> = { readelf };

const at = (address: number): bigint => 0xffffffff00000000n + BigInt(address);

/** Address of each symbol, the same in every boot of the simulated lab. */
const functions: Readonly<Record<string, readonly [name: string, address: number][]>> = {
  kernel: [
    ['acpi_cpu_c1', 0x8038_1000],
    ['ether_input', 0x80c8_2000],
    ['ip_input', 0x80d0_1000],
    ['ip_tryforward', 0x80d0_3000],
    ['ip6_tryforward', 0x80d8_5000],
    ['vtnet_rxq_eof', 0x8106_4000],
  ],
  pf: [
    ['pf_test', 0x82e0_1000],
    ['pf_find_state', 0x82e0_9000],
  ],
  ipfw: [['ipfw_chk', 0x82f0_2000]],
};

/** First address of a function; for a module, where that is loaded. */
export function addressOf(name: string): bigint {
  const found = Object.values(functions)
    .flat()
    .find(([one]) => one === name);
  if (found === undefined) throw new TypeError(`The laboratory knows no function ${name}.`);
  return at(found[1]);
}

const magic = 'symbols of ksyms(4)\n';

/** Content of the device: ksyms(4) copies the tables of all files, with the numbers of their sections. */
export function deviceAt({ modules }: Machine, path: string): FileNode | undefined {
  if (path !== '/dev/ksyms' || !modules.has('ksyms')) return undefined;
  return { kind: 'file', bytes: Buffer.from(`${magic}${[...modules].join(' ')}`), mode: 0o400 };
}

/** `readelf -sW FILE` of a copy of that device; output as in contrib/elftoolchain/readelf. */
function readelf(process: Process): number {
  const [file = ''] = readOptions(process.args, 'sW').operands;
  const text = textOf(process.machine.files, file);
  if (text?.startsWith(magic) !== true) return fail(process, `readelf: ${file}: not an ELF file`);
  const { out } = process;
  const symbols = ['kernel', ...text.slice(magic.length).split(' ')].flatMap((file) =>
    (functions[file] ?? []).map(([name, address]) => ({
      name,
      address: at(address),
      section: file === 'kernel' ? 9 : 2,
    })),
  );
  out(`Symbol table (.symtab) contains ${symbols.length + 3} entries:\n`);
  out('   Num:    Value          Size Type    Bind   Vis      Ndx Name\n');
  out('     0: 0000000000000000     0 NOTYPE  LOCAL  DEFAULT  UND \n');
  out(`     1: ${at(0x8020_0000).toString(16)}     0 NOTYPE  GLOBAL DEFAULT    9 btext\n`);
  out(`     2: ${at(0x81a0_0000).toString(16)}     8 OBJECT  GLOBAL DEFAULT   20 V_tcbinfo\n`);
  for (const [index, { name, address, section }] of symbols.entries()) {
    const [number, place] = [String(index + 3).padStart(6), String(section).padStart(3)];
    out(`${number}: ${address.toString(16)}  2048 FUNC    GLOBAL DEFAULT  ${place} ${name}\n`);
  }
  return 0;
}
