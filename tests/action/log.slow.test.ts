// Output of the action as the runner reads it: it has no command but ours, also with hostile text.
import { execFile } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../fakes/folder.ts';
import type { Plan, Print } from '../fakes/printing.ts';
import { type Command, commandsIn } from '../fakes/runner-commands.ts';
import { anyCharacter, times } from '../random.ts';

const source = join(import.meta.dirname, '../../src');

describe('printed text', () => {
  test('is no command but ours, with our data, in any way and in any pieces', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const { stdout, stderr } = await printed(plan);
        expect(commandsIn(stderr)).toEqual([]);
        const meant = plan.prints.flatMap((print) => ours(print) ?? []);
        expect(commandsIn(stdout).map(withoutBlanks)).toEqual(meant.map(withoutBlanks));
      }),
      { numRuns: times(10), endOnFailure: true },
    );
  });

  test('can be read as it was', async () => {
    const text = readable.map(([said]) => `${said}\n`).join('');
    const prints: Print[] = [
      { way: 'stdout', text },
      { way: 'stderr', text },
    ];
    const { stdout, stderr } = await printed({ prints, end: 'return', text: '' });
    const shown = readable.map(([, seen]) => `${seen}\n`).join('');
    expect([stdout.toString(), stderr.toString()]).toEqual([shown, shown]);
  });

  test('is complete, on a separate line, when the process ends', async () => {
    const prints: Print[] = [
      { way: 'stderr', text: 'said ##' },
      { way: 'stdout', text: 'begun' },
      { way: 'error', text: 'meanwhile' },
    ];
    const { stdout, stderr } = await printed({ prints, end: 'exit', text: '' });
    expect(stdout.toString()).toBe('::error::meanwhile\nbegun\n');
    expect(stderr.toString()).toBe('said ##\n');
  });

  test.each(['throw', 'reject'] as const)(
    'by Node itself about an uncaught error (%s) is no command, and the lab is at fault',
    async (end) => {
      const { code, stderr } = await printed({ prints: [], end, text: '\n##[error]x\n::error::y' });
      expect(code).toBe(4);
      expect(stderr.toString()).toMatch(/^Error: \n# #\[error\]x\n: :error::y\n {4}at /);
      expect(commandsIn(stderr)).toEqual([]);
    },
  );

  test.each(['action.ts', 'action-post.ts'])('by what %s loads is guarded before', (entry) => {
    const text = readFileSync(join(source, entry), 'utf8');
    expect([...text.matchAll(/from '(.+)'/g)].map(([, path]) => path)).toEqual(['./action/log.ts']);
    expect(text.indexOf('guardOutput();')).toBeLessThan(text.indexOf('import('));
  });

  test.each(globSync('action/*.ts', { cwd: source }).filter((path) => path !== 'action/log.ts'))(
    'by %s cannot reach the runner past the guard',
    (path) => {
      const text = readFileSync(join(source, path), 'utf8');
      expect(text).not.toMatch(/\bconsole\.|\bcore\.(?!getInput|getState|summary)/);
    },
  );
});

/** Texts as logged, and as people see them. */
const readable = [
  ['a change of 3 % :: and more', 'a change of 3 % :: and more'],
  ['a ##[set-output name=go]true', 'a # #[set-output name=go]true'],
  ['####[x] #[y] ## [z]', '### #[x] #[y] ## [z]'],
  ['::error::x', ': :error::x'],
  [' \u2003\ufeff::error::x', ' \u2003\ufeff: :error::x'],
  ['a\r::error::x', 'a\r: :error::x'],
  ['größer: ::', 'größer: ::'],
  ['', ''],
] as const;

const nasty = fc.constantFrom(
  ...['##[', '#', '##', '[', ']', '::', ':', '\r', '\n', '\r\n', ' ', '\t', '\v', '\f', '\x85'],
  ...['\xa0', '\u1680', '\u2003', '\u2028', '\u2029', '\u3000', '\ufeff', '\u200b', '\u00ad'],
  ...['\0', '\x1b[36m', '\ud83d', '🚦', 'ö', '%0A', '%0D', '%25', '%5D', ';', ','],
  ...['##[set-output name=go;]true', '::set-output name=go::true', '##[save-state name=lease]/'],
  ...['::stop-commands::x', '##[error]x', '::error::x', '::add-mask::e', '##[group]'],
);
/** A line that begins with a command after blanks, of which the runner knows more than JavaScript. */
const indented = fc
  .tuple(
    fc.constantFrom('\n', '\r', '\r\n'),
    fc.constantFrom(...'\t\v\f\x1c\x85 \xa0\u1680\u2003\u2028\u2029\u202f\u3000\u200b\ufeff'),
  )
  .map(([end, blank]) => `${end}${blank}::set-output name=go::true`);
const texts = fc
  .array(fc.oneof({ arbitrary: nasty, weight: 4 }, indented, fc.string({ unit: anyCharacter })), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''));

const streams = fc.constantFrom('stdout' as const, 'stderr' as const);
/** The bytes of a text, cut anywhere. */
const pieces = fc
  .tuple(texts, streams, fc.array(fc.nat(40), { maxLength: 3 }), fc.boolean())
  .map(([text, to, cuts, isEncoded]): Print[] => {
    const bytes = Buffer.from(text);
    const ends = [...cuts, bytes.length].toSorted((a, b) => a - b);
    return ends.map((end, index) => {
      const hex = bytes.subarray(ends[index - 1] ?? 0, end).toString('hex');
      return { way: 'bytes', to, hex, isEncoded };
    });
  });
const whole = fc
  .record({
    way: fc.constantFrom(
      ...(['stdout', 'stderr', 'console.log', 'console.error', 'emitWarning'] as const),
      ...(['debug', 'info', 'warn', 'error', 'mask'] as const),
    ),
    text: texts,
  })
  .map((print): Print[] => [print]);
const ends = fc.record({ way: fc.constant('end' as const), to: streams, text: texts }).map((print): Print[] => [print]);
const plans: fc.Arbitrary<Plan> = fc.record({
  prints: fc
    .array(fc.oneof(pieces, { arbitrary: whole, weight: 2 }, ends), {
      minLength: 100,
      maxLength: 300,
      size: 'max',
    })
    .map((prints) => prints.flat()),
  end: fc.constantFrom('return', 'exit', 'throw', 'reject'),
  text: texts,
});

const names = { debug: 'debug', warn: 'warning', error: 'error', mask: 'add-mask' } as const;

/** The command that a print is meant to be. */
function ours(print: Print): Command | undefined {
  if (!Object.hasOwn(names, print.way)) return undefined;
  const { way, text } = print as { way: keyof typeof names; text: string };
  return { name: names[way], properties: {}, data: text.toWellFormed() };
}

/** Ignores blanks that make foreign text harmless; a secret must stay the same to the letter. */
const withoutBlanks = (command: Command): Command =>
  command.name === 'add-mask' ? command : { ...command, data: command.data.replaceAll(' ', '') };

type Printed = { code: number; stdout: Buffer; stderr: Buffer };

function printed(plan: Plan): Promise<Printed> {
  const path = join(temporaryFolder(), 'plan.json');
  writeFileSync(path, JSON.stringify(plan));
  const program = join(import.meta.dirname, '../fakes/printing.ts');
  return new Promise((resolve) => {
    execFile(process.execPath, [program, path], { encoding: 'buffer' }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}
