// Three places name what a gate may be told; one table holds them together.
import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { addGateCommand } from '../../src/commands/gate.ts';
import { parameters } from '../../src/config/parameters.ts';

const actionSchema = z.object({
  inputs: z.record(z.string(), z.object({ default: z.string().prefault('') })),
});

test('the inputs of action.yml and their defaults are those of the table', async () => {
  const { inputs } = actionSchema.parse(parse(await readFile('action.yml', 'utf8')));
  const written = Object.entries(inputs).map(([name, input]) => [name, input.default]);
  const known = parameters.flatMap(({ input, default: value = '' }) =>
    input === undefined ? [] : [[input, value]],
  );
  expect(written.toSorted()).toEqual(known.toSorted());
});

test('the options of `ppsgate gate` are those of the table, with a value but for switches', () => {
  const program = new Command();
  addGateCommand(program);
  const written = program.commands.flatMap((gate) =>
    gate.options.map((option) => [option.long, option.isBoolean() ? 'switch' : 'value']),
  );
  const known = parameters.flatMap(({ option, kind }) =>
    option === undefined ? [] : [[option, kind === 'switch' ? 'switch' : 'value']],
  );
  expect(written.toSorted()).toEqual(known.toSorted());
});

test('what both the action and the command have as a default is the same', () => {
  const program = new Command();
  addGateCommand(program);
  const options = program.commands.flatMap((gate) => gate.options);
  for (const { option, input, default: value } of parameters) {
    if (option === undefined || input === undefined || value === undefined) continue;
    expect(options.find(({ long }) => long === option)?.defaultValue).toBe(value);
  }
});

test('a parameter has one name in three spellings', () => {
  for (const { input, option, jenkins } of parameters) {
    const name = input ?? option?.slice(2) ?? '';
    if (option !== undefined) expect(option).toBe(`--${name}`);
    const camelCase = name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    if (jenkins !== undefined) expect(jenkins).toBe(camelCase);
  }
});

test('the Jenkins library takes its parameters from the table', async () => {
  const ofJenkins = parameters.flatMap(({ jenkins, option, kind, default: value = '' }) =>
    jenkins === undefined
      ? []
      : [
          {
            name: jenkins,
            option,
            isList: kind === 'list',
            isSwitch: kind === 'switch',
            default: value,
          },
        ],
  );
  const file = '../../jenkins/resources/org/ppsgate/parameters.json';
  await expect(`${JSON.stringify(ofJenkins, null, 2)}\n`).toMatchFileSnapshot(file);
});
