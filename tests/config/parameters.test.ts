// Parameters of a gate come from one table; `vitest -u` generates the files that people read.
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { makeProgram } from '../../src/cli/program.ts';
import {
  isOfBisect,
  isOfGate,
  kebabCase,
  namingStyles,
  overrideArguments,
  overrideNames,
  parameter,
  parametersThat,
} from '../../src/config/parameters.ts';

test('action.yml has the inputs of the table, with their descriptions and defaults', async () => {
  const inputs = parametersThat(({ input }) => input !== undefined).map((name) => {
    const { input: description, default: value = '' } = parameter(name);
    return [kebabCase(name), { description, default: value }];
  });
  const block = stringify({ inputs: Object.fromEntries(inputs) }, { lineWidth: 0 });
  const file = '../../action.yml';
  const written = await readFile(new URL(file, import.meta.url), 'utf8');
  const expected = written.replace(/^inputs:\n(?: .*\n)+/m, block);
  await expect(expected).toMatchFileSnapshot(file);
});

test('the options of `ppsgate gate` are those of the table, with a value but for switches', () => {
  const gate = commandOf('gate');
  const written = gate.options.map((option) => [option.attributeName(), option.isBoolean() ? 'switch' : 'value']);
  const known = parametersThat((one) => isOfGate(one) && one.option !== undefined).map((name) => [
    name,
    parameter(name).kind === 'switch' ? 'switch' : 'value',
  ]);
  expect(written).toEqual(known);
});

test('defaults of the action and the command are equal', () => {
  for (const name of parametersThat(({ option }) => option !== undefined)) {
    const { option, input, default: value } = parameter(name);
    if (input !== undefined && value !== undefined) expect(option?.default).toBe(value);
  }
});

test('the Jenkins library gets its parameters from the table', async () => {
  const ofJenkins = parametersThat(({ jenkins }) => jenkins === true).map((name) => {
    const { kind, default: value = '' } = parameter(name);
    return {
      name,
      options: {
        ...(isOfGate(parameter(name)) && { gate: namingStyles.flag(name) }),
        ...(isOfBisect(parameter(name)) && { bisect: namingStyles.bisectFlag(name) }),
      },
      isList: kind === 'list',
      isSwitch: kind === 'switch',
      default: value,
    };
  });
  const file = '../../jenkins/resources/org/ppsgate/parameters.json';
  await expect(`${JSON.stringify(ofJenkins, null, 2)}\n`).toMatchFileSnapshot(file);
});

test('`ppsgate bisect` accepts all parameters of a bisection, including those of Jenkins', () => {
  const bisect = commandOf('bisect');
  const flags = bisect.options.map(({ long }) => long);
  const told = parametersThat((one) => isOfBisect(one) && (one.isOverride || one.jenkins) === true);
  expect(flags).toEqual(expect.arrayContaining(told.map(namingStyles.bisectFlag)));
});

test('overrides of one bisection are passed to `ppsgate bisect` in its form, including lists', async () => {
  const bisect = commandOf('bisect');
  bisect.action(() => {});
  const overrides = {
    good: 'a',
    bad: 'b',
    fixUp: 'c,d:e',
    scenarios: 'forwarding',
    verifyRevert: 'true',
  };
  bisect.parse(overrideArguments(overrides, namingStyles.bisectFlag), { from: 'user' });
  expect(bisect.opts()).toMatchObject({
    good: 'a',
    bad: 'b',
    fixUp: ['c', 'd:e'],
    scenario: 'forwarding',
    verifyRevert: true,
  });
});

test('overrides of one gate are passed to `ppsgate gate` in its form, including switches', async () => {
  const gate = commandOf('gate');
  gate.action(() => {});
  const values = overrideNames.map((name) => [name, parameter(name).kind === 'switch' ? 'true' : `a ${name}`]);
  gate.parse(overrideArguments(Object.fromEntries(values)), { from: 'user' });
  expect(gate.opts()).toMatchObject({
    ...Object.fromEntries(values),
    measureAnyway: true,
  });
  expect(overrideArguments({ measureAnyway: 'false', margin: '' })).toEqual([]);
});

function commandOf(name: string): Command {
  const command = makeProgram().commands.find((one) => one.name() === name);
  if (command === undefined) expect.fail(`there is no command ${name}`);
  return command;
}
