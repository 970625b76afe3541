import { describe, expect, test } from 'vitest';
import { builderSchema } from '../../src/config/builder.ts';

const parse = (written: object) => builderSchema.parse({ host: 'builder', ...written });
const problemOf = (written: object): string => {
  const { error } = builderSchema.safeParse({ host: 'builder', ...written });
  return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ') ?? 'none';
};

test('a builder is a host, and all else has a value that works', () => {
  expect(parse({})).toEqual({
    system: 'freebsd',
    host: 'builder',
    port: 22,
    user: 'root',
    knownHostsPath: '~/.ssh/known_hosts',
    folder: '/var/db/ppsgate',
    repository: '/usr/src',
    remote: 'origin',
    recipe: {
      kind: 'make',
      kernelConfig: 'GENERIC',
      clean: true,
      metaMode: false,
      toolchain: true,
      modules: 'all',
      options: [],
    },
    layoutVariants: 1,
    limitSeconds: 7200,
    turnSeconds: 14_400,
    minFreeBytes: 10e9,
    cache: { maxKernels: 50, maxBytes: 20e9 },
  });
});

test('all of it may be written', () => {
  const kernel = {
    kind: 'make',
    kernelConfig: 'LAB',
    kernelConfigFolder: '/site/kernels',
    jobs: 8,
    clean: false,
    metaMode: true,
    toolchain: false,
    modules: 'all',
    options: ['-DNO_MODULES', 'MODULES_OVERRIDE=pf ipfw'],
  };
  const written = {
    kernel,
    limit: '30 min',
    turn: '60 min',
    freeSpace: '5GB',
    keep: { kernels: 9, size: '7 GB' },
  };
  expect(parse(written)).toMatchObject({
    recipe: kernel,
    limitSeconds: 1800,
    turnSeconds: 3600,
    minFreeBytes: 5e9,
    cache: { maxKernels: 9, maxBytes: 7e9 },
  });
});

test('the cache holds the layouts of two kernels', () => {
  expect(parse({ layoutVariants: 20 }).layoutVariants).toBe(20);
  expect(problemOf({ layoutVariants: 8, keep: { kernels: 15 } })).toBe(
    'layoutVariants: the cache is to hold all layouts of two kernels; set `keep: { kernels: }` to twice as many',
  );
  expect(problemOf({ layoutVariants: 21 })).toMatch(/^layoutVariants: expected a whole number from 1 to 20/);
});

test("a site's own command replaces make", () => {
  expect(parse({ kernel: { kind: 'command', argv: ['/site/build', '-v'] } }).recipe).toEqual({
    kind: 'command',
    argv: ['/site/build', '-v'],
    kernelConfig: 'GENERIC',
  });
});

test.each([['src'], ['/'], ['/a b'], ['/a,b'], ['/a:b'], ['/a/../b'], ['~/x'], ['/a/']])(
  'the folder "%s" is refused, which make could not build in',
  (folder) => {
    expect(problemOf({ folder })).toBe(`folder: expected an absolute path of plain letters, found "${folder}"`);
  },
);

test.each([
  [{ kernelConfig: '../GENERIC' }, 'kernel.kernelConfig: expected the name of a kernel configuration'],
  [{ options: ['-f'] }, 'kernel.options.0: expected an option of make like -DNAME or NAME=value'],
  [{ metaMode: true }, 'kernel.metaMode: meta mode saves time only from one build to the next'],
  [{ kind: 'bake' }, 'kernel.kind: expected `kind: make` or `kind: command`'],
  [{ kind: 'command', argv: [] }, 'kernel.argv: expected a command'],
  [{ target: 'x' }, 'kernel.target: unknown key `target`'],
])('%j is refused with the reason', (kernel, problem) => {
  expect(problemOf({ kernel: { kind: 'make', ...kernel } })).toContain(problem);
});

test.each(['-DNO_MODULES', 'MODULES_OVERRIDE=pf'])(
  'modules that are needed are not those that an option names: %s',
  (option) => {
    expect(problemOf({ kernel: { kind: 'make', modules: 'needed', options: [option] } })).toBe(
      'kernel.modules: `options` says which modules are built already; leave one of the two out',
    );
  },
);

describe('a jail for builds', () => {
  const jail = { name: 'ppsgate', user: 'ppsgate' };

  test('has a name, and a user', () => {
    expect(parse({ jail }).jail).toEqual(jail);
  });

  test('is not entered by root, who would be root of the whole builder', () => {
    expect(problemOf({ jail: { ...jail, user: 'root' } })).toMatch(
      /^jail\.user: expected a user of the builder other than root, found/,
    );
  });

  test('needs a login as root', () => {
    expect(problemOf({ jail, user: 'lab' })).toBe('jail: only root enters a jail; log in as root, `user: root`');
  });
});
