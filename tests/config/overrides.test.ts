import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { applyOverrides, parseEach, parseSeed, parseSwitch } from '../../src/config/overrides.ts';
import { namingStyles } from '../../src/config/parameters.ts';
import { UsageError } from '../../src/model/usage-error.ts';

const config = parseConfig('testbeds: { here: { kind: embedded-linux } }', {
  path: 'ppsgate.yml',
  home: '/home/me',
});

const { flag } = namingStyles;

test('no override changes nothing, and an empty text is no override', () => {
  expect(applyOverrides(config, {}, flag)).toEqual(config);
  expect(applyOverrides(config, { scenarios: '', margin: '', maxRuns: '' }, flag)).toEqual(config);
});

test('an override replaces the configured value, in the same words and units', () => {
  const texts = {
    scenarios: 'nftables-stateless, forwarding',
    families: 'inet6',
    metric: 'nsPerPacket',
    margin: '0.5 %',
    falseAlarms: '0.5%',
    power: '90%',
    design: 'fixed',
    maxRuns: '12',
    stopAtFirst: 'on',
    profile: '20 s',
  };
  expect(applyOverrides(config, texts, flag)).toEqual({
    ...config,
    scenarios: ['nftables-stateless', 'forwarding'],
    families: ['inet6'],
    gate: {
      ...config.gate,
      metric: 'nsPerPacket',
      marginRatio: 0.005,
      falseAlarmRatio: 0.005,
      missRatio: 0.1,
      design: 'fixed',
      maxRunsPerVariant: 12,
      stopsAtFirst: true,
    },
    profile: { seconds: 20 },
  });
});

test('that the first loss ends the rest is switched on and off', () => {
  const on = applyOverrides(config, { stopAtFirst: 'on' }, flag);
  expect(on.gate).toEqual({ ...config.gate, stopsAtFirst: true });
  expect(applyOverrides(on, {}, flag)).toEqual(on);
  expect(applyOverrides(on, { stopAtFirst: 'off' }, flag)).toEqual(config);
});

test('profiles are switched on and off, and keep their event', () => {
  const { profile: _, ...without } = config;
  expect(applyOverrides(config, { profile: 'off' }, flag)).toEqual(without);
  expect(applyOverrides(without, { profile: 'on' }, flag)).toEqual(config);
  const own = { ...config, profile: { seconds: 5, event: 'cycles:k' } };
  expect(applyOverrides(own, { profile: 'on' }, flag)).toEqual(own);
  expect(applyOverrides(own, { profile: '20s' }, flag).profile).toEqual({
    seconds: 20,
    event: 'cycles:k',
  });
});

test.for([
  [{ scenarios: 'forwarding,nftables-statefull' }, /^--scenarios: .*did you mean `nftables-stateful`/],
  [{ families: 'inet5' }, /^--families: expected one of inet4, inet6, found "inet5"/],
  [{ margin: '2' }, /^--margin: expected a percentage like 2%, found "2"/],
  [{ maxRuns: 'many' }, /^--max-runs: expected a whole number from 2 to 10000/],
  [{ maxRuns: '1' }, /^--max-runs: expected a whole number from 2 to 10000, found 1/],
  [{ stopAtFirst: 'yes' }, /^--stop-at-first: expected on or off, found "yes"/],
  [{ profile: 'yes' }, /^--profile: expected on, off or a duration like 20 s, found "yes"/],
  [{ profile: '2 min' }, /^--profile: expected a duration from 0.5 s to 60 s, found "2 min"/],
  [{ design: 'glr' }, /^--design: expected one of fixed, group-sequential, found "glr"/],
] as const)('%o is refused by its name', ([texts, message]) => {
  expect(() => applyOverrides(config, texts, flag)).toThrow(UsageError);
  expect(() => applyOverrides(config, texts, flag)).toThrow(message);
});

test('selectors for testbeds have commas between them', () => {
  expect(parseEach('chelsio, mellanox and 40G', '--each')).toEqual(['chelsio', 'mellanox and 40G']);
});

test.for([
  ['chelsio,', /^--each: expected names with one comma in between, found "chelsio,"\.$/],
  ['chelsio,Chelsio', /^--each: a selector is in this list twice\.$/],
] as const)('the selectors "%s" are refused', ([text, message]) => {
  expect(() => parseEach(text, '--each')).toThrow(UsageError);
  expect(() => parseEach(text, '--each')).toThrow(message);
});

test('a seed is a whole number of 31 bits', () => {
  expect(parseSeed('0', '--seed')).toBe(0);
  expect(parseSeed('2147483647', '--seed')).toBe(2147483647);
  for (const text of ['2147483648', '-1', '1.5', '1e3', '', 'x']) {
    expect(() => parseSeed(text, '--seed')).toThrow(`found "${text}"`);
  }
});

test('reads a switch as true or false, and as off by default', () => {
  expect(['true', 'false', '', undefined].map((text) => parseSwitch(text, '--x'))).toEqual([true, false, false, false]);
  for (const text of ['on', 'yes', 'True', ' true']) {
    expect(() => parseSwitch(text, 'measure-anyway')).toThrow(
      new UsageError(`measure-anyway: expected true or false, found "${text}".`),
    );
  }
});
