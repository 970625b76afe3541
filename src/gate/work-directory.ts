// Names the default work directory of a gate.

/** `ppsgate-demo-20261120-231655`, in the current directory. */
export function timestampedDirectory(prefix: string, now = new Date()): string {
  const digits = now.toISOString().replace(/\D/g, '');
  return `${prefix}-${digits.slice(0, 8)}-${digits.slice(8, 14)}`;
}
