// Selects the testbeds for a patch.

import { driversOf } from '../model/freebsd-port.ts';
import { excerpt } from '../model/units.ts';
import { UsageError } from '../model/usage-error.ts';
import { didYouMean } from './did-you-mean.ts';
import { parseEach } from './overrides.ts';
import type { NamingStyle } from './parameters.ts';
import { type Config, systemOf, type TestbedConfig, whyUnfit } from './schema.ts';
import { type Described, isFulfilled, readSelector, type TestbedSelector } from './testbed-selector.ts';

/**
 * Returns at least one, in the configuration's order; an empty selector means the first. Throws a `UsageError`, which
 * names the option or key that the selector came from.
 */
export function testbedsFor(config: Config, selector = '', called = ''): string[] {
  const found = matching(config, selector.trim(), called);
  const fit = found.filter((name) => whyUnfit(config, name) === undefined);
  if (fit.length > 0) return fit;
  const [first] = found;
  const unfit = first === undefined ? undefined : whyUnfit(config, first);
  throw new UsageError(unfit ?? nothingLike(config, selector, called));
}

/** Names where a selector of `selectorsOf` came from. */
export function selectorCalled(
  { testbed, each }: { testbed?: string | undefined; each?: string | undefined },
  calledAs: NamingStyle,
): string {
  if (testbed) return calledAs('testbed');
  return each ? calledAs('each') : 'each';
}

function matching(config: Config, selector: string, called: string): string[] {
  const names = Object.keys(config.testbeds);
  if (selector === '') return names.slice(0, 1);
  if (names.includes(selector)) return [selector];
  const parsed = parseSelector(selector, called);
  return names.filter((name) => isFulfilled(parsed, describe(config, name)));
}

/** `called` names the option or key that has the text. */
export function parseSelector(text: string, called = ''): TestbedSelector {
  const source = readSelector(text);
  if (source.kind === 'refused') {
    throw new UsageError(`${called || 'Selector for a testbed'}: ${source.message}.`);
  }
  return source.selector;
}

/** Returns the requested selectors, or those configured; each gets its own testbed. */
export function selectorsOf(
  config: Config,
  { testbed, each }: { testbed?: string | undefined; each?: string | undefined },
  calledAs: NamingStyle,
): string[] {
  if (testbed) return [testbed];
  return each ? parseEach(each, calledAs('each')) : (config.each ?? ['']);
}

function describe(config: Config, name: string): Described {
  const words = wordsOf(config, name).map((word) => word.toLowerCase());
  return { words: new Set(words), cores: config.testbeds[name]?.capabilities?.cpu?.cores };
}

/** In the spelling of ppsgate.yml. */
function wordsOf(config: Config, name: string): string[] {
  const testbed = config.testbeds[name];
  if (testbed === undefined) return [];
  const { nic, cpu, labels = [] } = testbed.capabilities ?? {};
  const { drivers, gigabits } = ofIngress(testbed);
  const texts = [nic?.vendor, nic?.model, nic?.driver, ...drivers, cpu?.model];
  return [
    name,
    testbed.kind,
    systemOf(config, name),
    ...texts.flatMap((text) => text?.match(/[a-z0-9][\w.+-]*/gi) ?? []),
    ...[nic?.gigabits, gigabits].flatMap((speed) => (speed === undefined ? [] : [`${speed}G`])),
    ...labels,
  ];
}

function ofIngress(testbed: TestbedConfig): { drivers: string[]; gigabits?: number | undefined } {
  if (testbed.kind !== 'freebsd') return { drivers: [] };
  const { interface: port, gigabits } = testbed.dut.ingress;
  return { drivers: driversOf(port), gigabits };
}

function nothingLike(config: Config, selector: string, called: string): string {
  const written = Object.keys(config.testbeds).flatMap((name) => wordsOf(config, name));
  const known = new Map(written.map((word) => [word.toLowerCase(), word]));
  const [hint = ''] = parseSelector(selector)
    .flat()
    .flatMap((condition) => (condition.kind === 'word' && condition.wanted ? [condition.word] : []))
    // Excludes numbers: another speed is not a typo.
    .filter((word) => !known.has(word) && !/^\d/.test(word))
    .map((word) => didYouMean(word, [...known.values()]))
    .filter((hint) => hint !== '');
  const words = [...known.values()].join(', ');
  return `${called === '' ? 'No' : `${called}: no`} testbed of the configuration is "${excerpt(selector)}": known here are ${words}${hint || '.'}`;
}
