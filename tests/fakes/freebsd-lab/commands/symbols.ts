// nm and readelf: the functions of a kernel and, through ksyms(4), of its modules.
import { type FileNode, nodeAt } from '../file-system.ts';
import { readKernel } from '../kernel.ts';
import type { Machine } from '../machine.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';

export const symbolPrograms: Readonly<Record<string, Program>> = { nm, readelf };

type Symbol = {
  address: bigint;
  size: number;
  type: 'FUNC' | 'NOTYPE' | 'OBJECT';
  /** Number of its section in its file. */
  section: number;
  name: string;
};

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

const functionBytes = 0x800;

/** First address of a function; for a module, where that is loaded. */
export function addressOf(name: string): bigint {
  const found = Object.values(functions)
    .flat()
    .find(([one]) => one === name);
  if (found === undefined) throw new TypeError(`The laboratory knows no function ${name}.`);
  return at(found[1]);
}

const symbolsOf = (file: string): Symbol[] => [
  ...(file === 'kernel'
    ? [
        { address: at(0x8020_0000), size: 0, type: 'NOTYPE', section: 9, name: 'btext' } as const,
        {
          address: at(0x81a0_0000),
          size: 8,
          type: 'OBJECT',
          section: 20,
          name: 'V_tcbinfo',
        } as const,
      ]
    : []),
  ...(functions[file] ?? []).map(
    ([name, address]): Symbol => ({
      address: at(address),
      size: functionBytes,
      type: 'FUNC',
      name,
      section: file === 'kernel' ? 9 : 2,
    }),
  ),
];

const magic = 'symbols of ksyms(4)\n';

/** Content of the device: ksyms(4) copies the tables of all files, with the numbers of their sections. */
export function deviceAt({ modules }: Machine, path: string): FileNode | undefined {
  if (path !== '/dev/ksyms' || !modules.has('ksyms')) return undefined;
  return { kind: 'file', bytes: Buffer.from(`${magic}${[...modules].join(' ')}`), mode: 0o400 };
}

type Table = { kind: 'kernel' | 'ksyms'; symbols: Symbol[] } | { kind: 'none' };

function tableIn({ machine }: Process, path: string): Table | undefined {
  const node = nodeAt(machine.files, path);
  if (node?.kind !== 'file') return undefined;
  const text = node.bytes.toString();
  if (text.startsWith(magic)) {
    const files = ['kernel', ...text.slice(magic.length).split(' ')];
    return { kind: 'ksyms', symbols: files.flatMap(symbolsOf) };
  }
  if (readKernel(node.bytes) === undefined) return { kind: 'none' };
  return { kind: 'kernel', symbols: symbolsOf('kernel') };
}

const inOrder = (symbols: readonly Symbol[]): Symbol[] =>
  symbols.toSorted((one, other) => (one.address < other.address ? -1 : 1));

/**
 * `nm -n FILE`. A file of ksyms(4) has four sections, and symbols of as many more. LLVM's nm shows `?` for them; that
 * of ELF Tool Chain, in earlier FreeBSD, omits them.
 */
function nm(process: Process): number {
  const [flag, file = '', ...more] = process.args;
  if (flag !== '-n' || more.length > 0) return notModelled(process, 'this use of nm');
  const table = tableIn(process, file);
  if (table === undefined) return fail(process, `nm: error: ${file}: No such file or directory`);
  if (table.kind === 'none') {
    return fail(process, `nm: error: ${file}: The file was not recognized as a valid object file`);
  }
  for (const { address, type, section, name } of inOrder(table.symbols)) {
    const foreign = section > 3 ? '?' : 'N';
    const letter = table.kind === 'ksyms' ? foreign : type === 'OBJECT' ? 'D' : 'T';
    process.out(`${address.toString(16)} ${letter} ${name}\n`);
  }
  return 0;
}

/** `readelf -sW FILE`, which ignores sections; output as in contrib/elftoolchain/readelf. */
function readelf(process: Process): number {
  const [flag, file = '', ...more] = process.args;
  if (flag !== '-sW' || more.length > 0) return notModelled(process, 'this use of readelf');
  const table = tableIn(process, file);
  if (table === undefined) return fail(process, `readelf: open ${file} failed: No such file or directory`);
  if (table.kind === 'none') return fail(process, `readelf: ${file}: not an ELF file`);
  const { out } = process;
  out(`Symbol table (.symtab) contains ${table.symbols.length + 1} entries:\n`);
  out('   Num:    Value          Size Type    Bind   Vis      Ndx Name\n');
  out('     0: 0000000000000000     0 NOTYPE  LOCAL  DEFAULT  UND \n');
  for (const [index, { address, size, type, section, name }] of table.symbols.entries()) {
    out(
      [
        `${String(index + 1).padStart(6)}:`,
        address.toString(16),
        String(size).padStart(5),
        type.padEnd(7),
        'GLOBAL DEFAULT ',
        String(section).padStart(3),
        `${name}\n`,
      ].join(' '),
    );
  }
  return 0;
}
