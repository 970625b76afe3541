// Separates the facts of a FreeBSD DUT's machine from those of its kernel.

/** Name → value. */
export type Fingerprint = Record<string, string>;

/** Facts of the machine with any kernel. */
export const withoutKernelFacts = (fingerprint: Fingerprint): Fingerprint =>
  Object.fromEntries(
    Object.entries(fingerprint).filter(
      ([name]) => !kernelDependentFacts.has(name) && !kernelFacts.has(name),
    ),
  );

/** Facts that change with the machine only, with neither another kernel nor another boot. */
export const machineFacts = (fingerprint: Fingerprint): Fingerprint =>
  Object.fromEntries(
    Object.entries(withoutKernelFacts(fingerprint)).filter(([name]) => !volatileFacts.has(name)),
  );

const kernelFacts = new Set(['ident', 'RSS', 'release']);

/** Facts that another kernel, or another boot, explains. */
export const kernelDependentFacts = new Set([
  'kernel',
  'kern.bootfile',
  'kern.boottime',
  'kernel sha256',
]);

/** A frequency follows the load; the kernel chooses how routes are looked up by how many there are, and by its own mind. */
export const volatileFacts = new Set([
  'dev.cpu.0.freq',
  'net.route.algo.inet.algo',
  'net.route.algo.inet6.algo',
]);
