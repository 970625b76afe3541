// Separates the facts of a FreeBSD DUT's machine from those of its kernel.

export type Fingerprint = Record<string, string>;

export const withoutKernelFacts = (fingerprint: Fingerprint): Fingerprint =>
  Object.fromEntries(
    Object.entries(fingerprint).filter(([name]) => !kernelDependentFacts.has(name) && !kernelFacts.has(name)),
  );

/** Facts that neither another kernel nor another boot changes. */
export const machineFacts = (fingerprint: Fingerprint): Fingerprint =>
  Object.fromEntries(Object.entries(withoutKernelFacts(fingerprint)).filter(([name]) => !volatileFacts.has(name)));

const kernelFacts = new Set(['ident', 'RSS', 'release']);

export const kernelDependentFacts = new Set(['kernel', 'kern.bootfile', 'kern.boottime', 'kernel sha256']);

/** The frequency follows the load, and the kernel chooses its route lookup by the number of routes. */
export const volatileFacts = new Set(['dev.cpu.0.freq', 'net.route.algo.inet.algo', 'net.route.algo.inet6.algo']);
