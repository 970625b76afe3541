// Configures a builder of FreeBSD kernels at a login.
import type { BuilderConfig } from '../../src/config/builder.ts';
import type { HostConfig } from '../../src/config/fields.ts';

export const builderAt = ({ host, port, user, privateKeyPath = '', knownHostsPath }: HostConfig): BuilderConfig => ({
  system: 'freebsd',
  ...{ host, port, user, privateKeyPath, knownHostsPath },
  folder: '/var/db/ppsgate',
  repository: '/usr/src',
  remote: 'origin',
  recipe: {
    kind: 'make',
    kernelConfig: 'GENERIC',
    ...{ clean: false, metaMode: true, toolchain: true },
    modules: 'all',
    options: [],
  },
  layoutVariants: 1,
  limitSeconds: 7200,
  turnSeconds: 7200,
  minFreeBytes: 1e6,
  cache: { maxKernels: 50, maxBytes: 20e9 },
});
