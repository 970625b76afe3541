// Which facts of a FreeBSD DUT are the machine's, and which are its kernel's.

/** Name → value. */
export type Fingerprint = Record<string, string>;

/** What is the machine's, whichever kernel runs. */
export const withoutKernelFacts = (fingerprint: Fingerprint): Fingerprint =>
  Object.fromEntries(
    Object.entries(fingerprint).filter(
      ([name]) => !kernelDependentFacts.has(name) && !kernelFacts.has(name),
    ),
  );

/** What only somebody changes who changes the machine: neither another kernel nor another boot does. */
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
