import { expect, test } from 'vitest';
import { linuxBuilderSchema } from '../../src/config/linux-builder.ts';
import { parseConfig } from '../../src/config/load.ts';

const kernel = { kind: 'linux', config: 'guest.config' };
const parse = (written: object) => linuxBuilderSchema.parse({ user: 'kernels', kernel, ...written });
const problemOf = (written: object): string => {
  const { error } = linuxBuilderSchema.safeParse({ user: 'kernels', kernel, ...written });
  return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ') ?? 'none';
};

test('a builder is a user and a configuration, and all else has a value that works', () => {
  expect(parse({})).toEqual({
    system: 'linux',
    port: 22,
    user: 'kernels',
    knownHostsPath: '~/.ssh/known_hosts',
    jail: { user: 'kernels' },
    folder: '/var/lib/ppsgate-builds',
    repository: '/usr/src/linux',
    remote: 'origin',
    recipe: { kind: 'linux', configPath: 'guest.config', clean: true, options: [] },
    limitSeconds: 7200,
    turnSeconds: 14_400,
    minFreeBytes: 10e9,
    cache: { maxKernels: 50, maxBytes: 20e9 },
  });
});

test('on another machine the user is the login', () => {
  const builder = parse({ host: 'builder' });
  expect(builder).toMatchObject({ host: 'builder', user: 'kernels' });
  expect(builder).not.toHaveProperty('jail');
});

test('all of it may be written', () => {
  const whole = { ...kernel, jobs: 8, clean: false, options: ['LLVM=1', 'KCFLAGS=-O2 -g'] };
  const { recipe, ...rest } = parse({
    kernel: whole,
    limit: '30 min',
    turn: '60 min',
    freeSpace: '5GB',
    keep: { kernels: 9, size: '7 GB' },
  });
  const { config: configPath, ...others } = whole;
  expect(recipe).toEqual({ ...others, configPath });
  expect(rest).toMatchObject({
    limitSeconds: 1800,
    turnSeconds: 3600,
    minFreeBytes: 5e9,
    cache: { maxKernels: 9, maxBytes: 7e9 },
  });
});

test("a site's own command may build as well", () => {
  const { recipe } = parse({ kernel: { kind: 'command', argv: ['build'] } });
  expect(recipe).toEqual({ kind: 'command', argv: ['build'], kernelConfig: 'GENERIC' });
});

test.each(['root', 'toor', '0', '-x'])('%s does not build', (user) => {
  expect(problemOf({ user })).toMatch(/^user: expected a user of the builder other than root/);
});

test.each(['-j8', '--eval=$(shell id)', 'clean', '-DNAME', 'A B=1', 'NAME!=id'])(
  '%s is no option for make',
  (option) => {
    expect(problemOf({ kernel: { ...kernel, options: [option] } })).toMatch(
      /^kernel\.options\.0: expected an option of make like LLVM=1/,
    );
  },
);

test('the configuration of the kernel starts at the folder of ppsgate.yml', () => {
  const text = `testbeds:
  lab:
    kind: virtual
    builder: { user: kernels, key: ~/key, kernel: { kind: linux, config: kernels/guest.config } }
`;
  const { testbeds } = parseConfig(text, { path: '/site/ppsgate.yml', home: '/home/alice' });
  expect(testbeds.lab).toMatchObject({
    builder: {
      privateKeyPath: '/home/alice/key',
      knownHostsPath: '/home/alice/.ssh/known_hosts',
      recipe: { configPath: '/site/kernels/guest.config' },
    },
  });
});
